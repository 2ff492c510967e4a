import * as learn from "../../../src/learn/index.js";
import type { Runners } from "../runner.js";

export const runners: Runners = {
  reinforce_plus_plus_verl09: (v) =>
    learn.reinforcePlusPlus(
      { rewards: v.token_level_rewards, mask: v.response_mask, groups: [] },
      { gamma: v.gamma },
    ),
  gpg_advantage: (v) =>
    learn.gpg({ rewards: v.token_level_rewards, mask: v.response_mask, groups: v.index }),
  rollout_correction_weights: (v) =>
    learn.correctionWeights(
      { logRatio: v.log_ratio, mask: v.response_mask },
      {
        weights: v.rollout_is,
        threshold: v.rollout_is_threshold,
        normalize: v.rollout_is_batch_normalize,
      },
    ),
  rollout_rejection_mask: (v) =>
    learn.rejectionMask(
      { logRatio: v.log_ratio, mask: v.response_mask },
      { reject: v.rollout_rs, rejectThreshold: v.rollout_rs_threshold, inverseK1: true },
    ),
  offpolicy_metrics: (v) =>
    learn.mismatchMetrics({
      logprobs: v.old_log_prob,
      sampledLogprobs: v.rollout_log_prob,
      mask: v.response_mask,
    }),
  filter_groups: (v) => {
    const batch = { groups: v.index as string[], metric: v.metric as number[] };
    const found = learn.filterGroups(batch, {
      before: v.prompts_before,
      size: v.train_batch_size,
      test: "deviation",
    });
    const kept = learn.filterGroups(batch, { test: "deviation" }).groups;
    return {
      kept_rows: found.rows,
      kept_groups: found.groups,
      prompts_after: found.filled,
      evicted_verl09: Object.fromEntries(batch.groups.map((g) => [g, !kept.includes(g)])),
    };
  },
};
