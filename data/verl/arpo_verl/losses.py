"""AEPO's policy loss, from torch alone."""

import torch


def balanced_advantages(advantages, entropies, mask):
    """A (1 + 0.2 z), z the entropy's distance from the mean of what is trained, in deviations."""
    known = entropies[mask.bool()].double()
    if known.numel() < 2:
        return advantages
    deviation = known.std()
    if deviation == 0:
        deviation = torch.ones_like(deviation)
    factor = 1 + 0.2 * (entropies.detach().double() - known.mean()) / deviation
    return advantages * factor.to(advantages.dtype)


def aepo_policy_loss(old_log_prob, log_prob, advantages, mask, low, high, c, clipping=True, entropies=None):
    """Token losses and metrics of PPO with dual clip. `clipping`: its upper bound keeps the gradient
    (1 + high) grad logp. `entropies`: advantages weigh more where the policy is unsure."""
    if entropies is not None:
        advantages = balanced_advantages(advantages, entropies, mask)
    ratio = (log_prob - old_log_prob).exp()
    if clipping:
        in_bounds = torch.minimum(torch.clamp(ratio, min=1 - low), (1 + high) / ratio.detach() * ratio)
    else:
        in_bounds = torch.clamp(ratio, 1 - low, 1 + high)
    unclipped, clipped = -advantages * ratio, -advantages * in_bounds
    worse = torch.maximum(unclipped, clipped)
    bottom = -advantages * c
    losses = torch.where(advantages < 0, torch.minimum(bottom, worse), worse)
    mean = lambda x: (x * mask).sum() / (mask.sum() + 1e-8)
    return losses, {
        "pg_clipfrac": mean((clipped > unclipped).float()),
        "ppo_kl": mean(old_log_prob - log_prob),
        "pg_clipfrac_lower": mean(((worse > bottom) & (advantages < 0)).float()),
    }
