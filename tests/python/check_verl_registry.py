"""Losses and advantages as verl's own registry gives them, arpo_verl's among them, against the golden cases.

check_verl_registry.py ROOT, in a Python with verl 0.9.1."""

import json
import os
import sys
from pathlib import Path

root = Path(sys.argv[1])
sys.path.insert(0, str(root / "data/verl"))
os.environ["VERL_USE_EXTERNAL_MODULES"] = "arpo_verl"

import numpy as np  # noqa: E402
import torch  # noqa: E402
from verl.trainer.ppo.core_algos import get_adv_estimator_fn, get_policy_loss_fn  # noqa: E402
from tensordict import TensorDict  # noqa: E402
from verl.utils import tensordict_utils as tu  # noqa: E402
from verl.workers.config import ActorConfig, PolicyLossConfig  # noqa: E402
from verl.workers.utils.losses import ppo_loss  # noqa: E402

done = {}
tensor = lambda values: torch.tensor(values, dtype=torch.float64)


def cases(name):
    for case in json.loads((root / f"tests/golden/cases/{name}.json").read_text())["cases"]:
        yield case["input"], case["expected"]


def count(name):
    done[name] = done.get(name, 0) + 1


def near(a, b, what):
    assert torch.allclose(tensor(a), tensor(b), rtol=1e-6, atol=1e-8), f"{what}: {a} against {b}"


def losses(name, vectors, takes):
    for i, (given, wanted) in enumerate(cases(vectors)):
        if not takes(given) or given["loss_agg_mode"] != "token-mean" or tensor(given["response_mask"]).sum() == 0:
            continue
        config = ActorConfig(
            strategy="fsdp", rollout_n=1, ppo_micro_batch_size_per_gpu=1, clip_ratio=given["clip_ratio"],
            clip_ratio_low=given["clip_ratio_low"], clip_ratio_high=given["clip_ratio_high"],
            clip_ratio_c=given["clip_ratio_c"])
        logp = tensor(given["log_prob"]).requires_grad_()
        loss, metrics = get_policy_loss_fn(name)(
            old_log_prob=tensor(given["old_log_prob"]), log_prob=logp, advantages=tensor(given["advantages"]),
            response_mask=tensor(given["response_mask"]), loss_agg_mode="token-mean", config=config)
        loss.backward()
        near(loss.item(), wanted["pg_loss"], f"{name} {i}")
        near(logp.grad.tolist(), wanted["grad_log_prob"], f"gradient of {name} {i}")
        for metric in ("pg_clipfrac", "ppo_kl", "pg_clipfrac_lower"):
            near(metrics[f"actor/{metric}"], wanted[metric], f"{metric} of {name} {i}")
        count(name)


def advantages():
    for i, (given, wanted) in enumerate(cases("grpo_advantage")):
        found, _ = get_adv_estimator_fn("grpo")(
            token_level_rewards=tensor(given["token_level_rewards"]), response_mask=tensor(given["response_mask"]),
            index=np.array(given["index"], dtype=object), epsilon=given["epsilon"],
            norm_adv_by_std_in_grpo=given["norm_adv_by_std"])
        near(found.tolist(), wanted["advantages"], f"grpo {i}")
        count("grpo")


MODES = {(True, True): "aepo", (True, False): "aepo_clipping", (False, True): "aepo_advantage"}


def actor_losses():
    """AEPO's through verl's whole loss of an actor, which is given log-probabilities and entropies of whole rows."""
    nested = lambda rows: torch.nested.as_nested_tensor(rows, layout=torch.jagged)
    for i, (given, wanted) in enumerate(cases("aepo_policy_loss")):
        name = MODES.get((given["enable_entropy_balanced_clipping"], given["enable_entropy_balanced_advantage"]))
        mask = tensor(given["response_mask"])
        if name is None or given["loss_agg_mode"] != "token-mean" or mask.sum() == 0 or wanted["pg_loss"] == "NaN":
            continue
        if given["entropy"] is None and name != "aepo_clipping":
            continue  # refused: see below
        rows, width = mask.shape
        logp = tensor(given["log_prob"]).requires_grad_()
        # A prompt of two tokens before each row; what a model says at a place is of the token after it.
        whole = lambda values: torch.cat([torch.zeros(rows, 1).double(), values, torch.zeros(rows, 1).double()], 1)
        config = ActorConfig(
            strategy="fsdp", rollout_n=1, ppo_micro_batch_size_per_gpu=1, clip_ratio=given["clip_ratio"],
            clip_ratio_low=given["clip_ratio_low"], clip_ratio_high=given["clip_ratio_high"],
            clip_ratio_c=given["clip_ratio_c"], policy_loss=PolicyLossConfig(loss_mode=name))
        ids = torch.zeros(rows, width, dtype=torch.long)
        data = TensorDict(dict(
            prompts=nested(list(ids[:, :2])), responses=nested(list(ids)), response_mask=nested(list(mask)),
            old_log_probs=nested(list(tensor(given["old_log_prob"]))),
            advantages=nested(list(tensor(given["advantages"])))), batch_size=[rows])
        tu.assign_non_tensor(data, dp_size=1, batch_num_tokens=None, global_batch_size=None)
        output = dict(log_probs=nested(list(whole(logp))))
        if given["entropy"] is not None:
            output["entropy"] = nested(list(whole(tensor(given["entropy"]))))
        loss, metrics = ppo_loss(config, output, data)
        loss.backward()
        near(loss.item(), wanted["pg_loss"], f"{name} {i}")
        near(logp.grad.tolist(), wanted["grad_log_prob"], f"gradient of {name} {i}")
        count(f"actor {name}")
        if name != "aepo_clipping":
            output.pop("entropy")
            try:
                ppo_loss(config, output, data)
            except ValueError as error:
                assert "calculate_entropy=true" in str(error), error
                count("refused")


losses("vanilla", "ppo_policy_loss", lambda given: True)
losses("aepo_clipping", "aepo_policy_loss", lambda given: given["enable_entropy_balanced_clipping"] and not (
    given["enable_entropy_balanced_advantage"] and given["entropy"] is not None))
actor_losses()
advantages()
print(json.dumps(done))
