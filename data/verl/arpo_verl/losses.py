"""AEPO's entropy-balanced clipping, from torch alone."""

import torch


def aepo_policy_loss(old_log_prob, log_prob, advantages, mask, low, high, c):
    """Token losses and metrics: PPO with dual clip, whose upper bound keeps the gradient (1 + high) grad logp."""
    ratio = (log_prob - old_log_prob).exp()
    in_bounds = torch.minimum(torch.clamp(ratio, min=1 - low), (1 + high) / ratio.detach() * ratio)
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
