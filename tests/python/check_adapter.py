"""Loads with peft the adapters that arpo-lab wrote and compares logits; writes adapters back.

    python check_adapter.py FOLDER

FOLDER holds `base` (a model), `ours` (its adapters), `case.json` (token ids, whether rslora) and
`case.safetensors` (our logits). `theirs` is written beside them: adapters that peft drew and saved, with
its own logits in `theirs.safetensors`, and `merged`, the model with them added. Called by peft.slow.test.ts. Ends with status 1 if a check fails.
"""

import json
import pathlib
import sys

import torch
import transformers
from peft import LoraConfig, PeftModel, get_peft_model
from safetensors.torch import load_file, save_file

transformers.logging.set_verbosity_error()
transformers.logging.disable_progress_bar()
root = pathlib.Path(sys.argv[1])
case = json.loads((root / "case.json").read_text())
ids = torch.tensor(case["ids"])


def base():
    return transformers.AutoModelForCausalLM.from_pretrained(root / "base", dtype=torch.float32).eval()


failed = False
with torch.no_grad():
    mine = load_file(root / "case.safetensors")["logits"]
    bare = base()(ids).logits.reshape(-1)
    loaded = PeftModel.from_pretrained(base(), root / "ours").eval()
    apart = loaded(ids).logits.reshape(-1)
    merged = loaded.merge_and_unload()(ids).logits.reshape(-1)
    for name, theirs in (("apart", apart), ("merged", merged)):
        difference = (theirs - mine).abs().max().item()
        said = (theirs - bare).abs().max().item()
        ok = difference < 1e-4 and said > 0.1
        failed |= not ok
        print(f"{'ok' if ok else 'FAILED'} {name}: {difference:.1e} from ours, {said:.1e} from the base")

    torch.manual_seed(1)
    config = LoraConfig(
        r=3,
        lora_alpha=6,
        target_modules=case["targets"],
        use_rslora=case["rslora"],
        init_lora_weights=False,
        task_type="CAUSAL_LM",
    )
    drawn = get_peft_model(base(), config).eval()
    drawn.save_pretrained(root / "theirs")
    save_file({"logits": drawn(ids).logits.reshape(-1).contiguous()}, root / "theirs.safetensors")
    drawn.merge_and_unload().save_pretrained(root / "merged")
sys.exit(failed)
