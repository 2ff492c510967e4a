#!/usr/bin/env python3
"""Loads a Hugging Face folder or a GGUF file with transformers, reads a prompt and decodes greedily.

    python3 transformers_baseline.py MODEL float32|bfloat16 PROMPT_LENGTH TOKENS ROWS...

Prints a JSON line when it is loaded: load (seconds), version; and for every line it is given another:
prefill and by number of rows decode (tokens per second, the fastest of four stretches), megabytes
(resident). Needs `pip install torch transformers`.
"""
import json, os, resource, sys, time
import torch, transformers
from transformers import AutoModelForCausalLM


def resident():
    try:
        with open("/proc/self/status") as f:
            return int(next(l for l in f if l.startswith("VmRSS")).split()[1]) / 1024
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


@torch.inference_mode()
def decode(model, prompt_length, tokens, rows):
    ids = torch.tensor([[i * 7919 % 2000 for i in range(prompt_length)]])
    start = time.perf_counter()
    model(ids, logits_to_keep=1)
    prefill = prompt_length / (time.perf_counter() - start)
    out = model(ids.repeat(rows, 1), use_cache=True, logits_to_keep=1)
    step = lambda out: model(out.logits[:, -1:].argmax(-1), past_key_values=out.past_key_values,
                             use_cache=True)
    out = step(out)
    fastest = float("inf")
    for _ in range(4):
        start = time.perf_counter()
        for _ in range(tokens // 4):
            out = step(out)
        fastest = min(fastest, time.perf_counter() - start)
    return {"prefill": prefill, "decode": rows * (tokens // 4) / fastest}


def main():
    path, dtype, prompt_length, tokens = sys.argv[1:5]
    gguf = {"gguf_file": os.path.basename(path)} if path.endswith(".gguf") else {}
    folder = os.path.dirname(path) if gguf else path
    start = time.perf_counter()
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=getattr(torch, dtype), **gguf).eval()
    load = time.perf_counter() - start
    print(json.dumps({"load": load, "version": transformers.__version__}), flush=True)
    for _ in sys.stdin:
        found = {n: decode(model, int(prompt_length), int(tokens), int(n)) for n in sys.argv[5:]}
        print(json.dumps({"prefill": max(x["prefill"] for x in found.values()),
                          "decode": {n: x["decode"] for n, x in found.items()},
                          "megabytes": resident()}), flush=True)


if __name__ == "__main__":
    main()
