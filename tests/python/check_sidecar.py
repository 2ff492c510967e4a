"""The Node process beside a worker: asked many things at once, killed once and twice, gone with its worker.

check_beside.py ROOT JOB, where JOB is an export whose tool `sum` runs in Node: `id` gives its process's number,
`die` ends the process."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

root, job = sys.argv[1:3]
sys.modules["arpo_verl"] = type(sys)("arpo_verl")
sys.modules["arpo_verl"].__path__ = [str(Path(root) / "data/verl/arpo_verl")]
from arpo_verl.sidecar import Sidecar  # noqa: E402


def gone(pid: int) -> bool:
    for _ in range(3000):
        try:
            with open(f"/proc/{pid}/stat") as file:
                if file.read().rsplit(")", 1)[1].split()[0] == "Z":
                    return True
        except FileNotFoundError:
            return True
        time.sleep(0.02)
    return False


async def worker():
    """Another worker, that is killed."""
    print((await Sidecar.of(job).ask(do="call", tag="sum", input="id"))["text"], flush=True)
    await asyncio.sleep(600)


async def main():
    side = Sidecar.of(job)
    ask = lambda given: Sidecar.of(job).ask(do="call", tag="sum", input=given)
    many = await asyncio.gather(*[ask(f"{i}*2") for i in range(50)])
    assert [one["text"] for one in many] == [str(2 * i) for i in range(50)], many
    long = "long" * 60_000  # more than a stream's usual line
    assert (await ask(long))["text"] == long
    first = int((await ask("id"))["text"])
    # Killed while a question waits: it is asked again of a new one.
    waiting = asyncio.ensure_future(ask("wait"))
    await asyncio.sleep(0)
    os.kill(first, signal.SIGKILL)
    assert (await waiting)["text"] == "waited"
    second = int((await ask("id"))["text"])
    assert second != first and gone(first)
    try:
        await ask("die")
        raise AssertionError("a question that kills twice must be an error")
    except RuntimeError as error:
        assert "beside this worker" in str(error) and "status 3: last words" in str(error), error
        said = str(error)
    assert (await ask("1+1"))["text"] == "2"  # others are still answered
    try:
        await Sidecar.of(job).ask(do="call", tag="none", input="")
        raise AssertionError("a tag that nobody has must be an error")
    except RuntimeError as error:
        assert "the tag must be one of sum, got none" in str(error), error
    print(json.dumps(dict(said=said, last=side.process.process.pid)))


if len(sys.argv) > 3:
    asyncio.run(worker())
else:
    other = subprocess.Popen([sys.executable, __file__, root, job, "worker"], stdout=subprocess.PIPE, text=True)
    node = int(other.stdout.readline())
    other.kill()
    assert gone(node), "Node outlived a worker that was killed"
    asyncio.run(main())
