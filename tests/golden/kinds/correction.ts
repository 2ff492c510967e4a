import { correctionWeights } from "../../../src/learn/correction/weights.js";
import { filterGroups } from "../../../src/learn/filter-groups.js";
import { gpg } from "../../../src/learn/estimators/plain/gpg.js";
import { mismatchMetrics } from "../../../src/learn/correction/figures.js";
import { reinforcePlusPlus } from "../../../src/learn/estimators/plain/reinforce-plus-plus.js";
import { rejectionMask } from "../../../src/learn/correction/rejection.js";
import type { Runners } from "../runner.js";

export const runners: Runners = {
  reinforce_plus_plus_verl09: (v) =>
    reinforcePlusPlus(
      { rewards: v.token_level_rewards, mask: v.response_mask, groups: [] },
      { gamma: v.gamma },
    ),
  gpg_advantage: (v) =>
    gpg({ rewards: v.token_level_rewards, mask: v.response_mask, groups: v.index }),
  rollout_correction_weights: (v) =>
    correctionWeights(
      { logRatio: v.log_ratio, mask: v.response_mask },
      {
        weights: v.rollout_is,
        threshold: v.rollout_is_threshold,
        normalize: v.rollout_is_batch_normalize,
      },
    ),
  trl_sampler_correction: (v) => {
    const { mode, clip_min, clip_max, completion_mask, tool_mask, old_log_prob } = v;
    const [level, action] = mode.split("_");
    const differences = (old_log_prob as number[][]).map((row, i) =>
      row.map((p, t) => p - v.sampling_log_prob[i][t]),
    );
    // A token whose sampler did not say counts as sampled by the policy itself.
    const mask = (completion_mask as number[][]).map((row, i) =>
      row.map((m, t) => m * (tool_mask?.[i][t] ?? 1) * Number(!Number.isNaN(differences[i]![t]))),
    );
    const some = mask.some((row) => row.includes(1));
    const found = some
      ? correctionWeights(
          { logRatio: differences, mask },
          {
            ...{ weights: level, outside: action === "mask" ? "drop" : "cut" },
            threshold: clip_min === null ? clip_max : `${clip_min}_${clip_max}`,
          },
        ).weights
      : [];
    const ratios = mask.map((row, i) => row.map((m, t) => (m ? found[i]![t]! : 1)));
    const whole = (row: number[], i: number) => [ratios[i]![row.indexOf(1)] ?? 1];
    return { importance_sampling_ratio: level === "sequence" ? mask.map(whole) : ratios };
  },
  rollout_rejection_mask: (v) =>
    rejectionMask(
      { logRatio: v.log_ratio, mask: v.response_mask },
      { reject: v.rollout_rs, rejectThreshold: v.rollout_rs_threshold, inverseK1: true },
    ),
  offpolicy_metrics: (v) =>
    mismatchMetrics({
      logprobs: v.old_log_prob,
      sampledLogprobs: v.rollout_log_prob,
      mask: v.response_mask,
    }),
  filter_groups: (v) => {
    const batch = { groups: v.index as string[], metric: v.metric as number[] };
    const found = filterGroups(batch, {
      before: v.prompts_before,
      size: v.train_batch_size,
      test: "deviation",
    });
    const kept = filterGroups(batch, { test: "deviation" }).groups;
    return {
      kept_rows: found.rows,
      kept_groups: found.groups,
      prompts_after: found.filled,
      evicted_verl09: Object.fromEntries(batch.groups.map((g) => [g, !kept.includes(g)])),
    };
  },
};
