#!/usr/bin/env python3
"""Loads a GGUF file with llama.cpp (xllamacpp), reads a prompt and decodes greedily.

    python3 llama_baseline.py FILE.gguf PROMPT_LENGTH TOKENS ROWS...

Prints a JSON line when it is loaded: load (seconds), version; and for every line it is given another: prefill
(tokens per second) and by number of rows decode, what all rows together decode per second (llama.cpp's own
clock of the slowest row), megabytes (resident). Needs `pip install xllamacpp`.
"""
import json, os, sys, threading, time
from importlib.metadata import version
import xllamacpp


def resident():
    with open("/proc/self/status") as f:
        return int(next(l for l in f if l.startswith("VmRSS")).split()[1]) / 1024


def main():
    path, prompt_length, tokens = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    rows = [int(n) for n in sys.argv[4:]]
    threads = int(os.environ.get("ARPO_LAB_THREADS") or os.cpu_count())
    params = xllamacpp.CommonParams()
    params.model.path = path
    params.n_parallel = max(rows)
    params.n_ctx = max(rows) * (prompt_length + tokens + 64)
    params.warmup = False
    params.cpuparams.n_threads = threads
    params.cpuparams_batch.n_threads = threads
    start = time.perf_counter()
    server = xllamacpp.Server(params)
    load = time.perf_counter() - start
    print(json.dumps({"load": load, "version": version("xllamacpp")}), flush=True)
    prompt = [i * 7919 % 2000 for i in range(prompt_length)]

    def complete(ids, count):
        found = server.handle_completions({
            "prompt": ids, "n_predict": count, "temperature": 0, "cache_prompt": False,
            "ignore_eos": True, "stream": False})
        return found["timings"]

    for _ in sys.stdin:
        read = complete(prompt, 1)["prompt_per_second"]
        decoded = {}
        for n in rows:
            times = []
            # A short prompt each, so that rows decode side by side for nearly all of the time.
            ask = lambda i: times.append(complete([100 + i, 7, 8], tokens)["predicted_ms"])
            workers = [threading.Thread(target=ask, args=(i,)) for i in range(n)]
            for w in workers: w.start()
            for w in workers: w.join()
            decoded[str(n)] = n * tokens / (max(times) / 1000)
        print(json.dumps({"prefill": read, "decode": decoded, "megabytes": resident()}), flush=True)


if __name__ == "__main__":
    main()
