#!/usr/bin/env python3
"""One step of reinforcement learning with LoRA by transformers and peft, as much as ours did.

    python3 peft_baseline.py MODEL PROMPT_LENGTH ROWS RESPONSE_LENGTH

Samples ROWS answers of RESPONSE_LENGTH tokens to one prompt, takes their log-probabilities without a
gradient, and makes one AdamW step with gradient checkpointing; float32, rank 8 on all matrices. Logits are
made for answers alone. Prints one JSON line of seconds: load, generate, old, update, step, processor (time of the step); megabytes (peak),
version. Needs `pip install torch transformers peft`.
"""
import json, os, resource, sys, time
import peft, torch, transformers
from transformers import AutoModelForCausalLM


def main():
    path, prompt_length, rows, response = sys.argv[1], *map(int, sys.argv[2:])
    gguf = {"gguf_file": os.path.basename(path)} if path.endswith(".gguf") else {}
    folder = os.path.dirname(path) if gguf else path
    torch.manual_seed(0)
    start = time.perf_counter()

    def seconds():
        nonlocal start
        now = time.perf_counter()
        passed, start = now - start, now
        return passed

    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, **gguf)
    names = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
    config = peft.LoraConfig(r=8, lora_alpha=16, target_modules=names, task_type="CAUSAL_LM")
    model = peft.get_peft_model(model, config)
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-4)
    load = seconds()

    before = time.process_time()
    ids = torch.tensor([[i * 7919 % 2000 for i in range(prompt_length)]]).repeat(rows, 1)
    with torch.no_grad():
        out = model.generate(input_ids=ids, attention_mask=torch.ones_like(ids), do_sample=True, top_k=0,
                             min_new_tokens=response, max_new_tokens=response, use_cache=True,
                             pad_token_id=0)
    assert out.shape[1] == prompt_length + response
    generate = seconds()

    def logprobs():
        logits = model(input_ids=out, use_cache=False, logits_to_keep=response + 1).logits[:, :-1]
        p = torch.log_softmax(logits, -1)
        return p.gather(-1, out[:, prompt_length:, None])[..., 0], -(p.exp() * p).sum(-1)

    with torch.no_grad():
        old, _ = logprobs()
    old_seconds = seconds()

    model.train()
    model.enable_input_require_grads()
    model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    advantages = torch.linspace(-1, 1, rows)[:, None]
    new, _ = logprobs()
    ratio = (new - old).exp()
    loss = -torch.min(ratio * advantages, ratio.clamp(0.8, 1.2) * advantages).mean()
    loss.backward()
    torch.nn.utils.clip_grad_norm_([p for p in model.parameters() if p.requires_grad], 1.0)
    optimizer.step()
    update = seconds()
    processor = time.process_time() - before
    print(json.dumps({
        "load": load, "generate": generate, "old": old_seconds, "update": update,
        "processor": processor,
        "step": generate + old_seconds + update,
        "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "version": f"{transformers.__version__} and peft {peft.__version__}",
    }))


if __name__ == "__main__":
    main()
