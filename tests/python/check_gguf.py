#!/usr/bin/env python3
"""What transformers makes of a folder, beside what was found here.

    python3 check_gguf.py FOLDER FOUND.json

FOUND.json: prompts (token ids), greedy (what was written after each), rows ({tokens, from, logprobs}), texts and
their tokens. Prints the largest difference of log-probabilities; ends with 1 where anything differs.
"""
import json, sys
import torch
from transformers import AutoModelForCausalLM, PreTrainedTokenizerFast

folder, found = sys.argv[1], json.load(open(sys.argv[2]))
torch.set_num_threads(1)  # two wait for each other on a busy machine
model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
# By its own file: transformers 5 takes a tokenizer's settings from the model's type where it knows better.
tokenizer = PreTrainedTokenizerFast(tokenizer_file=folder + "/tokenizer.json")
bad = 0
for prompt, ours in zip(found["prompts"], found["greedy"]):
    with torch.no_grad():
        ids = model.generate(torch.tensor([prompt]), max_new_tokens=len(ours), do_sample=False)[0].tolist()[len(prompt):]
    bad += ids != ours
print(f"greedy: {bad} of {len(found['prompts'])} differ")
worst = 0.0
for first in range(0, len(found["rows"]), 10):
    rows = found["rows"][first:first + 10]
    # What is added at the end is seen by nothing before it.
    longest = max(len(row["tokens"]) for row in rows)
    with torch.no_grad():
        logits = model(torch.tensor([row["tokens"] + [0] * (longest - len(row["tokens"])) for row in rows])).logits
    for row, mine in zip(rows, logits):
        start, count = row["from"], len(row["logprobs"])
        theirs = torch.log_softmax(mine[start - 1:start - 1 + count].double(), -1)
        chosen = theirs.gather(1, torch.tensor(row["tokens"][start:start + count])[:, None])[:, 0]
        worst = max(worst, (chosen - torch.tensor(row["logprobs"]).double()).abs().max().item())
print(f"sampled: log-probabilities of {len(found['rows'])} rows differ by at most {worst:.2e}")
other = sum(tokenizer(text, add_special_tokens=False)["input_ids"] != ids for text, ids in found["texts"])
print(f"tokens: {other} of {len(found['texts'])} texts differ")
sys.exit(bad > 0 or not worst <= 1e-4 or other > 0)
