"""The Node process beside a worker of verl: a user's TypeScript tools and rewards, asked by lines of JSON.

The worker listens at a socket of its own and starts `sidecar.sh SOCKET`, which connects. Node ends when that
connection does: with the worker, however it ends. One that dies is started once more for the questions it left."""

import asyncio
import json
import os
import shutil
import sys
import tempfile
from collections import deque


class Died(Exception):
    pass


class _Process:
    """One process, from its start to its end."""

    def __init__(self, folder: str):
        self.folder, self.waiting, self.number = folder, {}, 0
        self.last_words: deque = deque(maxlen=5)

    async def start(self) -> None:
        # Only this user reaches it; a socket's path is short.
        self.place = tempfile.mkdtemp(prefix="arpo-", dir="/tmp")
        socket = os.path.join(self.place, "s")
        connected = asyncio.get_running_loop().create_future()

        def accept(reader, writer):
            if connected.done():
                writer.close()
            else:
                connected.set_result((reader, writer))

        self.server = await asyncio.start_unix_server(accept, socket, limit=1 << 30)
        env = {name: value for name, value in os.environ.items() if not name.startswith("RAY_AUTH")}
        self.process = await asyncio.create_subprocess_exec(
            "sh", os.path.join(self.folder, "sidecar.sh"), socket, env=env,
            stdin=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE)
        self.tail = asyncio.ensure_future(self._hear(self.process.stderr))
        ended = asyncio.ensure_future(self.process.wait())
        await asyncio.wait({ended, connected}, return_when=asyncio.FIRST_COMPLETED)
        if not connected.done():
            raise await self._death()
        self.reader, self.writer = connected.result()
        self.answers = asyncio.ensure_future(self._read())

    async def ask(self, question: dict) -> dict:
        if self.answers.done():
            raise await self._death()
        self.number += 1
        number, answer = self.number, asyncio.get_running_loop().create_future()
        self.waiting[number] = answer
        try:
            self.writer.write(json.dumps({"id": number, **question}).encode() + b"\n")
            return await answer
        finally:
            self.waiting.pop(number, None)

    @property
    def alive(self) -> bool:
        return not self.answers.done()

    async def _read(self) -> None:
        try:
            while line := await self.reader.readline():
                said = json.loads(line)
                answer = self.waiting.get(said.pop("id"))
                if answer and not answer.done():
                    answer.set_result(said)
        except (OSError, ValueError):
            pass
        death = await self._death()
        for answer in self.waiting.values():
            if not answer.done():
                answer.set_exception(death)

    async def _hear(self, stream) -> None:
        while line := await stream.readline():
            text = line.decode(errors="replace").rstrip()
            self.last_words.append(text)
            print(text, file=sys.stderr, flush=True)

    async def _death(self) -> Died:
        """What became of it; nothing of it is left."""
        self.server.close()
        if hasattr(self, "writer"):
            self.writer.close()
        try:
            await asyncio.wait_for(asyncio.shield(self.process.wait()), 10)
        except asyncio.TimeoutError:
            self.process.kill()
            await self.process.wait()
        await asyncio.wait({self.tail}, timeout=2)  # what it started may hold the pipe open
        shutil.rmtree(self.place, ignore_errors=True)
        words = "; ".join(self.last_words) or "it said nothing"
        return Died(f"status {self.process.returncode}: {words}")


class Sidecar:
    _here: dict = {}

    @classmethod
    def of(cls, folder: str) -> "Sidecar":
        """The one of this worker."""
        key = (folder, asyncio.get_running_loop())
        if key not in cls._here:
            cls._here[key] = cls(folder)
        return cls._here[key]

    def __init__(self, folder: str):
        self.folder, self.process, self.starting = folder, None, asyncio.Lock()

    async def ask(self, **question) -> dict:
        for left in (1, 0):
            try:
                answer = await (await self._living()).ask(question)
                break
            except Died as death:
                if left == 0:
                    raise RuntimeError(
                        f"Cannot ask the Node process beside this worker ({self.folder}/sidecar.sh): it must live, "
                        f"it ended twice, at last with {death}") from None
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer

    async def _living(self) -> _Process:
        async with self.starting:
            if self.process is None or not self.process.alive:
                process = _Process(self.folder)
                await process.start()
                self.process = process
            return self.process
