"""transformers loads a merged folder and finds the values of merged.safetensors in it."""

import sys

import torch
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM

model = AutoModelForCausalLM.from_pretrained(sys.argv[1], dtype=torch.bfloat16)
state, expected = model.state_dict(), load_file(sys.argv[2])
assert set(state) == {*expected, "lm_head.weight"}, set(state) ^ set(expected)
for name, tensor in expected.items():
    assert state[name].dtype == tensor.dtype and torch.equal(state[name], tensor), name
assert torch.equal(state["lm_head.weight"], state["model.embed_tokens.weight"])
print(f"ok {len(expected)} tensors")
