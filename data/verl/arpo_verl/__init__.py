"""arpo-lab's part of a run on verl 0.9.1: the tree as an agent loop, AEPO's loss, the reward.

Loaded in every process by VERL_USE_EXTERNAL_MODULES=arpo_verl, which verl imports while it is itself being
imported: so the loss registers itself once verl's registry is there, and nothing of verl is imported here.
"""

import importlib.abc
import importlib.util
import sys

_REGISTRY = "verl.trainer.ppo.core_algos"


def register() -> None:
    from verl.trainer.ppo.core_algos import agg_loss, register_policy_loss

    from .losses import aepo_policy_loss

    @register_policy_loss("aepo")
    def aepo(old_log_prob, log_prob, advantages, response_mask, loss_agg_mode="token-mean", config=None,
             rollout_is_weights=None):
        losses, metrics = aepo_policy_loss(
            old_log_prob, log_prob, advantages, response_mask,
            low=config.clip_ratio_low if config.clip_ratio_low is not None else config.clip_ratio,
            high=config.clip_ratio_high if config.clip_ratio_high is not None else config.clip_ratio,
            c=config.get("clip_ratio_c", 3.0),
        )
        if rollout_is_weights is not None:
            losses = losses * rollout_is_weights
        loss = agg_loss(losses, response_mask, loss_agg_mode, **config.global_batch_info)
        return loss, {f"actor/{name}": value.detach().item() for name, value in metrics.items()}


class _AfterTheRegistry(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name != _REGISTRY:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        run = spec.loader.exec_module

        def exec_module(module):
            run(module)
            register()

        spec.loader.exec_module = exec_module
        return spec


if _REGISTRY in sys.modules:
    register()
else:
    sys.meta_path.insert(0, _AfterTheRegistry())
