import type { MetricMeaning } from "./metric-meaning.js";

const of = (prefix: string, meanings: Record<string, string>): MetricMeaning[] =>
  Object.entries(meanings).map(([key, meaning]) => ({ name: `${prefix}${key}`, meaning }));

/** What says how far the sampler is from the policy that trains, and what the correction does. */
export const correctionMeanings: readonly MetricMeaning[] = [
  ...of("rollout_corr/", {
    kl: "Mean of the sampler's ln p less the trainer's, over tokens: an estimate of their KL",
    k3_kl: "The same by an estimate that is never negative",
    training_ppl: "Perplexity of the trainer, mean over rows",
    training_log_ppl: "Its logarithm",
    rollout_ppl: "Perplexity of the sampler, mean over rows",
    rollout_log_ppl: "Its logarithm",
    log_ppl_diff: "Log perplexity of the trainer less the sampler's, mean over rows",
    log_ppl_abs_diff: "The size of that, mean over rows",
    log_ppl_diff_max: "The greatest over rows",
    log_ppl_diff_min: "The least over rows",
    ppl_ratio: "Perplexity of the trainer over the sampler's, mean over rows",
    chi2_token: "Mean square of p / p_sampler over tokens, less 1",
    chi2_seq: "The same of whole rows",
  }),
  {
    name: "rollout_corr/unknown_fraction",
    meaning: "Share of trained tokens whose sampler did not say how likely they were",
    own: true,
  },
  ...of("rollout_corr/rollout_is_", {
    mean: "Weight of a token in the loss, p / p_sampler cut off: mean",
    max: "Greatest weight; of whole rows before it is cut off",
    min: "Least weight",
    std: "Deviation of the weights",
    ratio_fraction_high: "Share of ratios above the threshold",
    ratio_fraction_low: "Share of ratios below the lower bound, or 1 / threshold",
    eff_sample_size: "Effective share of the tokens: 1 where all weigh the same",
    oob_ratio: "IcePop: share of tokens outside the bounds, which weigh 0",
    batch_norm_factor: "What weights were divided by to have mean 1",
    seq_mean: "A row's mean weight: mean over rows",
    seq_std: "Deviation over rows",
    seq_max: "Greatest over rows",
    seq_min: "Least over rows",
    seq_max_deviation: "How far a row's mean weight is from 1 at most",
    seq_fraction_high: "Share of rows above the threshold",
    seq_fraction_low: "Share of rows below the lower bound",
  }),
  ...of("rollout_corr/rollout_rs_", {
    masked_fraction: "Share of tokens that rejection left out",
    seq_masked_fraction: "Share of rows that lost a token",
  }),
  ...of("rollout_corr/rollout_rs_TEST_", {
    mean: "The statistic of a rejection test, such as token_k1: mean over tokens",
    max: "Greatest",
    min: "Least",
    std: "Deviation",
    fraction_high: "Share above the upper bound",
    fraction_low: "Share below the lower bound",
    masked_fraction: "Share of tokens that this test rejects",
    seq_masked_fraction: "Share of rows in which it rejects a token",
    seq_mean: "A row's statistic: mean over rows",
    seq_std: "Deviation over rows",
    seq_max: "Greatest over rows",
    seq_min: "Least over rows",
    seq_max_deviation: "Its greatest size",
    seq_fraction_high: "Share of rows above the upper bound",
    seq_fraction_low: "Share of rows below the lower bound",
  }),
];

/** What a batch of trees gives to learn from. */
export const treeMeanings: readonly MetricMeaning[] = (
  [
    ["mixed_outcome_ratio", "Share of prompts with a right row (a score above 0) and a wrong one"],
    ["mixed_outcome_ratio_trees", "The same of rows that began with one row's first segment"],
    ["mixed_outcome_ratio_forks", "The same of the rows below a fork"],
    ["mixed_outcome_ratio_anchors", "The same of a prompt's rows that met the same tool answer"],
    ["informative_mass", "Mean size of the advantage of a trained token"],
    ["credit_spread", "Deviation of the advantages inside a row, mean; 0 where a row has one"],
    ["tokens_per_leaf", "Tokens drawn, shared ones once, for each row that is trained on"],
  ] as const
).map(([key, meaning]) => ({ name: `tree/${key}`, meaning, own: true }));

/** The group filter with refilling. */
export const filterMeanings: readonly MetricMeaning[] = [
  {
    name: "train/num_gen_batches",
    meaning: "Batches that were rolled out to fill the step (filter_groups)",
  },
  { name: "filter/generated", meaning: "Prompts rolled out for the step", own: true },
  { name: "filter/dropped", meaning: "Prompts whose rows were all the same", own: true },
  { name: "filter/surplus", meaning: "Prompts that the full batch had no room for", own: true },
];
