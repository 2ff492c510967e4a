"""One request at a time, drawn by its own seed: the same request gives the same tokens, whoever asks."""

import random

import torch


@torch.no_grad()
def write(model, tokenizer, prompt_ids, *, max_tokens, seed, temperature=1.0, stop=(), eos=(), top=10):
    """Gives (ids, log-probabilities, for each token the `top` most likely as (id, log-probability), why it ended)."""
    draws, ids, logprobs, tops = random.Random(seed), [], [], []
    past, given = None, torch.tensor([list(prompt_ids)])
    while True:
        out = model(input_ids=given, past_key_values=past, use_cache=True)
        past = out.past_key_values
        row = torch.log_softmax(out.logits[0, -1].double() / (temperature or 1.0), -1)
        u, cumulated = draws.random(), row.exp().cumsum(0)
        token = int(torch.searchsorted(cumulated, torch.tensor(u * float(cumulated[-1]), dtype=torch.double)))
        token = int(row.argmax()) if temperature == 0 else min(token, len(row) - 1)
        best = torch.topk(row, top)
        ids.append(token)
        logprobs.append(float(row[token]))
        tops.append(list(zip(best.indices.tolist(), best.values.tolist())))
        if token in eos:
            return ids, logprobs, tops, "eos"
        if any(tokenizer.decode(ids, skip_special_tokens=True).endswith(s) for s in stop):
            return ids, logprobs, tops, "stop"
        if len(ids) >= max_tokens:
            return ids, logprobs, tops, "length"
        given = torch.tensor([[token]])


def load(path):
    """Model, tokenizer and the ids that end a row."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    torch.set_num_threads(1)
    model = AutoModelForCausalLM.from_pretrained(path, dtype=torch.float32).eval()
    eos = model.config.eos_token_id
    return model, AutoTokenizer.from_pretrained(path), set(eos if isinstance(eos, list) else [eos])
