"""arpo-lab's part of a run on verl 0.9.1: the tree as an agent loop, AEPO's losses, the reward.

Loaded in every process by VERL_USE_EXTERNAL_MODULES=arpo_verl, which verl imports while it is itself being
imported: so what belongs to a module of verl is done once that module is there, and nothing of verl is imported here.
"""

import importlib.abc
import importlib.util
import sys

_entropies: list = []  # of the rows whose loss is being computed; one thread computes it


def register(registry) -> None:
    """AEPO's losses: both of its switches, and each by itself."""
    from .losses import aepo_policy_loss

    def add(name, clipping, balanced):
        @registry.register_policy_loss(name)
        def aepo(old_log_prob, log_prob, advantages, response_mask, loss_agg_mode="token-mean", config=None,
                 rollout_is_weights=None):
            if balanced and not _entropies:
                raise ValueError(f"Cannot compute the loss {name}: verl must compute entropies, got none "
                                 "(actor_rollout_ref.actor.calculate_entropy=true)")
            losses, metrics = aepo_policy_loss(
                old_log_prob, log_prob, advantages, response_mask,
                low=config.clip_ratio_low if config.clip_ratio_low is not None else config.clip_ratio,
                high=config.clip_ratio_high if config.clip_ratio_high is not None else config.clip_ratio,
                c=config.get("clip_ratio_c", 3.0), clipping=clipping, entropies=_entropies[-1] if balanced else None,
            )
            if rollout_is_weights is not None:
                losses = losses * rollout_is_weights
            loss = registry.agg_loss(losses, response_mask, loss_agg_mode, **config.global_batch_info)
            return loss, {f"actor/{name}": value.detach().item() for name, value in metrics.items()}

    add("aepo", True, True)
    add("aepo_clipping", True, False)
    add("aepo_advantage", False, True)


def hand_entropies(losses) -> None:
    """verl computes entropies beside log-probabilities and hands its losses the latter alone."""
    whole = losses.ppo_loss

    def ppo_loss(config, model_output, data, *args, **kwargs):
        entropy = model_output.get("entropy", None)
        if entropy is None:
            return whole(config, model_output, data, *args, **kwargs)
        _entropies.append(losses.no_padding_2_padding(entropy.detach(), data))
        try:
            return whole(config, model_output, data, *args, **kwargs)
        finally:
            _entropies.pop()

    losses.ppo_loss = ppo_loss


_then = {"verl.trainer.ppo.core_algos": register, "verl.workers.utils.losses": hand_entropies}


class _Afterwards(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        then = _then.pop(name, None)
        if then is None:
            return None
        spec = importlib.util.find_spec(name)
        run = spec.loader.exec_module

        def exec_module(module):
            run(module)
            then(module)

        spec.loader.exec_module = exec_module
        return spec


for _name in [name for name in _then if name in sys.modules]:
    _then.pop(_name)(sys.modules[_name])
sys.meta_path.insert(0, _Afterwards())
