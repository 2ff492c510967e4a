"""Loads with transformers what arpo-lab wrote and compares: logits, values, token ids, texts, chats.

    python check_checkpoints.py FOLDER

FOLDER holds one folder per checkpoint, each with `ours.json` (token ids, texts, chats) and
`ours.safetensors` (logits or values). Called by transformers.slow.test.ts. Prints a line for each
check and ends with status 1 if one fails.
"""

import json
import pathlib
import sys

import torch
import transformers
from safetensors import safe_open

transformers.logging.set_verbosity_error()
transformers.logging.disable_progress_bar()
failed = 0


def report(name, ok, detail):
    global failed
    failed += not ok
    print(f"{'ok' if ok else 'FAILED'} {name}: {detail}")


def check_model(folder, ours):
    with safe_open(folder / "ours.safetensors", "pt") as file:
        mine = file.get_tensor("output")
    config = transformers.AutoConfig.from_pretrained(folder)
    kind = (
        transformers.AutoModelForTokenClassification
        if config.architectures[0].endswith("ForTokenClassification")
        else transformers.AutoModelForCausalLM
    )
    model, info = kind.from_pretrained(folder, dtype=torch.float32, output_loading_info=True)
    complete = not any(info[k] for k in ("missing_keys", "unexpected_keys", "mismatched_keys"))
    report(f"{folder.name} loads", complete, {k: list(v) for k, v in info.items() if v})
    with torch.no_grad():
        theirs = model.eval()(torch.tensor(ours["ids"])).logits
    difference = (theirs.reshape(-1) - mine.reshape(-1)).abs().max().item()
    report(f"{folder.name} output", difference < 1e-4, f"largest difference {difference:.1e}")
    eos = model.generation_config.eos_token_id if model.can_generate() else config.eos_token_id
    report(f"{folder.name} end tokens", eos == ours["eos"], f"{eos} and {ours['eos']}")


def check_tokenizer(folder, ours):
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    wrong = []
    for case in ours["texts"]:
        ids = tokenizer.encode(case["text"], add_special_tokens=False)
        text = tokenizer.decode(case["ids"], clean_up_tokenization_spaces=False)
        plain = tokenizer.decode(
            case["ids"], skip_special_tokens=True, clean_up_tokenization_spaces=False
        )
        if ids != case["ids"] or text != case["decoded"] or plain != case["plain"]:
            wrong.append((case, ids, text, plain))
    report(f"{folder.name} token ids", not wrong, f"{len(ours['texts'])} texts {wrong[:2]}")
    for case in ours["chats"]:
        text = tokenizer.apply_chat_template(
            case["messages"], add_generation_prompt=case["prompt"], tokenize=False
        )
        report(f"{folder.name} chat", text == case["text"], repr((text, case["text"]))[:200])
    theirs = [len(tokenizer), tokenizer.eos_token_id, tokenizer.pad_token_id]
    report(f"{folder.name} special tokens", theirs == ours["specials"], f"{theirs}")


for folder in sorted(pathlib.Path(sys.argv[1]).iterdir()):
    ours = json.loads((folder / "ours.json").read_text())
    if "ids" in ours:
        check_model(folder, ours)
    if "texts" in ours:
        check_tokenizer(folder, ours)
sys.exit(1 if failed else 0)
