#!/usr/bin/env python3
"""Time installed Jupyter kernels through jupyter_client, as a notebook front end would, in one run.

    python3 tools/bench/baselines/kernel_latency.py KERNEL... [--rounds N] [--json]

Prints one JSON line per kernel and round, and unless --json a table of the medians. The kernels take turns,
so that a busy machine is the same to all. Every time has beside it the processor time of the kernel's
processes (cpu), which a busy machine changes less.

cold_s is from the start of the process to the first reply; complete_ms the first completion of a
session; noop_ms and varied_ms the execute round trip of `1+1` and of a cell that changes (median, p95);
error_ms of an error, a type's where the kernel checks types; stream_20k the lines delivered of 20,000;
rss_mb the memory after all that; interrupt what became of a loop, an await and a loop after an await.
Needs jupyter_client and psutil.
"""

import argparse
import json
import queue
import statistics
import time

import psutil
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import KernelManager

CODE = {
    "typescript": dict(
        varied="1+{i}",
        error="const s{i}: string = {i};",
        state="const kept = 41;",
        check="kept + 1",
        complete="Math.",
        stream="for (let i=0;i<20000;i++) console.log('line '+i+' '+'x'.repeat(100))",
        loops={
            "sync": "while(true){}",
            "await": "await new Promise(r=>setTimeout(r,60000))",
            "sync_after_await": "await null; while(true){}",
        },
    ),
    "python": dict(
        varied="1+{i}",
        error="x{i}: str = 3 + 'a'",
        state="kept = 41",
        check="kept + 1",
        complete="str.",
        stream="for i in range(20000): print('line', i, 'x'*100)",
        loops={
            "sync": "while True: pass",
            "await": "import asyncio; await asyncio.sleep(60)",
            "sync_after_await": "import asyncio\nawait asyncio.sleep(0)\nwhile True: pass",
        },
    ),
}


class Kernel:
    def __init__(self, name):
        self.km = KernelManager(kernel_name=name)
        since = time.perf_counter()
        self.km.start_kernel()
        self.kc = self.km.client()
        self.kc.start_channels()
        try:
            self.kc.wait_for_ready(timeout=60)
            self.run("1")
        except BaseException:
            self.stop()
            raise
        self.cold = time.perf_counter() - since

    def processes(self):
        top = psutil.Process(self.km.provisioner.process.pid)
        return [top, *top.children(recursive=True)]

    def cpu(self):
        """Seconds of processor time so far, of all of the kernel's processes."""
        return sum(sum(p.cpu_times()[:2]) for p in self.processes())

    def reply(self, mid, timeout):
        end = time.time() + timeout
        while time.time() < end:
            try:
                r = self.kc.get_shell_msg(timeout=0.5)
            except queue.Empty:
                continue
            if r["parent_header"].get("msg_id") == mid:
                return r["content"]

    def drain(self, mid, timeout=30):
        out, end = [], time.time() + timeout
        while time.time() < end:
            try:
                m = self.kc.get_iopub_msg(timeout=0.5)
            except queue.Empty:
                continue
            if m["parent_header"].get("msg_id") != mid:
                continue
            if m["msg_type"] == "status" and m["content"]["execution_state"] == "idle":
                return out, True
            out.append(m)
        return out, False

    def run(self, code, timeout=60, outputs=3):
        since = time.perf_counter()
        mid = self.kc.execute(code)
        content = self.reply(mid, timeout)
        seconds = time.perf_counter() - since
        # tslab now and then loses the status that says it is idle.
        messages, idle = self.drain(mid, outputs if content is not None else 0)
        return seconds, content, messages, idle

    def complete(self, code):
        since, cpu = time.perf_counter(), self.cpu()
        content = self.reply(self.kc.complete(code, len(code)), 30)
        ms, spent = (time.perf_counter() - since) * 1e3, (self.cpu() - cpu) * 1e3
        return {"ms": round(ms), "cpu": round(spent), "matches": len((content or {}).get("matches", []))}

    def times(self, code, n, pause=0.0):
        cpu, ms = self.cpu(), []
        for i in range(n):
            ms.append(self.run(code.replace("{i}", str(i)))[0] * 1e3)
            time.sleep(pause)
        ms.sort()
        return {
            "median": round(statistics.median(ms), 2),
            "p95": round(ms[int(0.95 * n) - 1], 2),
            "cpu": round((self.cpu() - cpu) * 1e3 / n, 2),
        }

    def stop(self):
        self.kc.stop_channels()
        self.km.shutdown_kernel(now=True)


def interrupts(kernel, name, code):
    """What three waits become when they are interrupted, and the kernel, which may be another."""
    found = {}
    for wait, loop in code["loops"].items():
        kernel.run(code["state"])
        mid = kernel.kc.execute(loop)
        time.sleep(1)
        since = time.perf_counter()
        kernel.km.interrupt_kernel()
        got = kernel.reply(mid, 5)
        ms = round((time.perf_counter() - since) * 1e3)
        alive = kernel.km.is_alive()
        kept = False
        if got and alive:
            kernel.drain(mid, 5)
            _, content, messages, _ = kernel.run(code["check"], 10)
            text = "".join(
                m["content"]["data"].get("text/plain", "")
                if m["msg_type"] == "execute_result"
                else m["content"].get("text", "")
                for m in messages
                if m["msg_type"] in ("execute_result", "stream")
            )
            kept = bool(content and content["status"] == "ok" and "42" in text)
        found[wait] = {"ms": ms if got else None, "alive": alive, "state_kept": kept}
        if not (got and alive):
            kernel.stop()
            kernel = Kernel(name)
    return found, kernel


def measure(name, language):
    code = CODE["python" if language == "python" else "typescript"]
    kernel = Kernel(name)
    try:
        out = {"kernel": name, "cold_s": round(kernel.cold, 2), "cold_cpu_s": round(kernel.cpu(), 2)}
        out["rss_first_mb"] = memory(kernel)
        out["complete"] = kernel.complete(code["complete"])
        out["noop_ms"] = kernel.times("1+1", 200)
        out["varied_ms"] = kernel.times(code["varied"], 200)
        out["error_ms"] = kernel.times(code["error"], 15, 0.3)
        seconds, _, messages, idle = kernel.run(code["stream"], outputs=60)
        lines = sum(m["content"]["text"].count("\n") for m in messages if m["msg_type"] == "stream")
        out["stream_20k"] = {"lines": lines, "messages": len(messages), "idle": idle, "seconds": round(seconds, 2)}
        out["rss_mb"] = memory(kernel)
        out["interrupt"], kernel = interrupts(kernel, name, code)
        return out
    finally:
        kernel.stop()


def memory(kernel):
    return round(sum(p.memory_info().rss for p in kernel.processes()) / 2**20)


def table(results):
    rows = {
        "cold start, s": lambda r: r["cold_s"],
        "… its processor time, s": lambda r: r["cold_cpu_s"],
        "first completion, ms": lambda r: r["complete"]["ms"],
        "… its processor time, ms": lambda r: r["complete"]["cpu"],
        "`1+1`, ms": lambda r: r["noop_ms"]["median"],
        "… p95, ms": lambda r: r["noop_ms"]["p95"],
        "… processor time of one, ms": lambda r: r["noop_ms"]["cpu"],
        "a changing cell, ms": lambda r: r["varied_ms"]["median"],
        "an error, ms": lambda r: r["error_ms"]["median"],
        "20,000 lines, s": lambda r: r["stream_20k"]["seconds"],
        "… delivered": lambda r: r["stream_20k"]["lines"],
        "memory after all, MB": lambda r: r["rss_mb"],
        "interrupts that keep the state": lambda r: sum(i["state_kept"] for i in r["interrupt"].values()),
    }
    names = list(results)
    lines = ["| | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|"]
    for title, read in rows.items():
        cells = [f"{statistics.median([read(r) for r in results[name]]):g}" for name in names]
        lines.append(f"| {title} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("kernels", nargs="+", metavar="KERNEL")
    ap.add_argument("--rounds", type=int, default=1)
    ap.add_argument("--json", action="store_true", help="the JSON lines alone")
    a = ap.parse_args()
    specs = KernelSpecManager()
    languages = {name: specs.get_kernel_spec(name).language for name in a.kernels}
    results = {name: [] for name in a.kernels}
    for _ in range(a.rounds):
        for name in a.kernels:
            result = measure(name, languages[name])
            results[name].append(result)
            print(json.dumps(result), flush=True)
    if not a.json:
        print("\n" + table(results))


if __name__ == "__main__":
    main()
