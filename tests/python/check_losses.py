"""What verl 0.9.1 and TRL 1.16 compute for cases on standard input, in double precision: one JSON object a case."""

import json
import sys
from collections import defaultdict
from types import SimpleNamespace

import numpy as np
import torch
from trl.trainer.grpo_trainer import GRPOTrainer
from verl.trainer.ppo import core_algos as verl
from verl.workers.config import ActorConfig, PolicyLossConfig

torch.set_default_dtype(torch.float64)


def tensors(case, *names):
    return [torch.tensor(case[name], dtype=torch.float64) for name in names]


def moving(case, name):
    return torch.tensor(case[name], dtype=torch.float64, requires_grad=True)


def answer(value, grad=None, **more):
    return {"value": value.tolist(), **({} if grad is None else {"grad": grad.tolist()}), **more}


def loss(case):
    old, advantages, mask = tensors(case, "oldLogprobs", "advantages", "mask")
    logprobs = moving(case, "logprobs")
    options = case["options"]
    own = ("clip_cov_ratio", "clip_cov_lb", "clip_cov_ub", "kl_cov_ratio", "ppo_kl_coef", "dro_beta")
    config = ActorConfig(
        strategy="fsdp",
        use_dynamic_bsz=True,
        rollout_n=1,
        policy_loss=PolicyLossConfig(**{k: v for k, v in options.items() if k in own}),
        **{k: v for k, v in options.items() if k not in own},
    )
    mode = options["loss_agg_mode"]
    value, metrics = verl.get_policy_loss_fn(case["name"])(old, logprobs, advantages, mask, mode, config)
    value.backward()
    return answer(value.detach(), logprobs.grad, metrics=metrics)


def kl(case):
    (reference,) = tensors(case, "refLogprobs")
    logprobs = moving(case, "logprobs")
    value = verl.kl_penalty(logprobs, reference, case["name"])
    value.sum().backward()
    return answer(value.detach(), logprobs.grad)


def value(case):
    values, returns, mask = tensors(case, "values", "returns", "mask")
    predictions = moving(case, "predictions")
    found, clipped = verl.compute_value_loss(predictions, returns, values, mask, case["clipRange"])
    found.backward()
    return answer(found.detach() * 2, predictions.grad * 2, metrics={"vf_clipfrac": clipped.item()})


def advantages(case):
    rewards, mask, values, baselines = tensors(case, "rewards", "mask", "values", "baselines")
    config = SimpleNamespace(gamma=case["gamma"])
    config.get = lambda name, default=None: getattr(config, name, default)
    estimate = verl.get_adv_estimator_fn(case["name"])
    given = {"token_level_rewards": rewards, "response_mask": mask}
    if case["name"] == "gae":
        given.update(values=values, gamma=case["gamma"], lam=case["lambda"])
    elif case["name"].endswith("optimal_token_baseline"):
        old, squares = tensors(case, "oldLogprobs", "squares")
        given.update(index=np.array(case["groups"]), old_log_probs=old, sum_pi_squared=squares)
    else:
        given.update(config=config, index=np.array(case["groups"]))
    if case["name"] == "remax":
        given.update(reward_baselines=baselines)
    found, returns = estimate(**given)
    return answer(found, returns=returns.tolist())


def trl(case):
    old, advantages, mask, ref = tensors(case, "oldLogprobs", "advantages", "mask", "refLogprobs")
    logprobs = moving(case, "logprobs")
    options = case["options"]
    args = SimpleNamespace(
        delta=None, use_bias_correction_kl=False, steps_per_generation=1,
        sapo_temperature_pos=options["tauPositive"], sapo_temperature_neg=options["tauNegative"],
    )
    trainer = SimpleNamespace(
        _get_per_token_logps_and_entropies=lambda *_, **__: (logprobs, torch.zeros_like(logprobs), None),
        top_entropy_quantile=1.0, off_policy_mask_threshold=None, importance_sampling_level=case["level"],
        beta=options["beta"], args=args, loss_type=case["name"], use_vllm=False, aux_loss_enabled=False,
        epsilon_low=options["low"], epsilon_high=options["high"] if case["name"] != "cispo" else 1 + options["high"],
        model=SimpleNamespace(training=True), current_gradient_accumulation_steps=1, use_adaptive_entropy=False,
        max_completion_length=mask.shape[1], _entropy_bonus_enabled=False, _metrics=defaultdict(lambda: defaultdict(list)),
        accelerator=SimpleNamespace(num_processes=1, gather=lambda x: x, reduce=lambda x, **_: x, sync_gradients=True),
    )
    ids = torch.zeros(mask.shape, dtype=torch.long)
    value = GRPOTrainer._compute_loss(trainer, None, {
        "prompt_ids": ids[:, :0], "prompt_mask": ids[:, :0], "completion_ids": ids, "completion_mask": mask,
        "advantages": advantages, "old_per_token_logps": old, "ref_per_token_logps": ref, "num_items_in_batch": mask.sum(),
    })
    value.backward()
    return answer(value.detach(), logprobs.grad)


kinds = {"loss": loss, "kl": kl, "value": value, "advantages": advantages, "trl": trl}
for case in json.load(sys.stdin):
    try:
        print(json.dumps(kinds[case["kind"]](case)))
    except Exception as error:
        raise RuntimeError(f"{case['kind']} {case['name']}") from error
