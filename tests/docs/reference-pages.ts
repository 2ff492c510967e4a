import { configKeys } from "../../src/run/config/keys.js";
import { type MetricMeaning, spread } from "./metric-meaning.js";

const of = (prefix: string, meanings: Record<string, string>): MetricMeaning[] =>
  Object.entries(meanings).map(([key, meaning]) => ({ name: `${prefix}${key}`, meaning }));

/** What says how far the sampler is from the policy that trains, and what the correction does. */
const correctionMeanings: readonly MetricMeaning[] = [
  ...of("rollout_corr/", {
    kl: "Mean of the sampler's ln p less the trainer's, over tokens: an estimate of their KL",
    k3_kl: "The same by an estimate that is never negative",
    training_ppl: "Perplexity of the trainer, mean over sequences",
    training_log_ppl: "Its logarithm",
    rollout_ppl: "Perplexity of the sampler, mean over sequences",
    rollout_log_ppl: "Its logarithm",
    log_ppl_diff: "Log perplexity of the trainer less the sampler's, mean over sequences",
    log_ppl_abs_diff: "The size of that, mean over sequences",
    log_ppl_diff_max: "The greatest over sequences",
    log_ppl_diff_min: "The least over sequences",
    ppl_ratio: "Perplexity of the trainer over the sampler's, mean over sequences",
    chi2_token: "Mean square of p / p_sampler over tokens, less 1",
    chi2_seq: "The same of whole sequences",
  }),
  {
    name: "rollout_corr/unknown_fraction",
    meaning: "Share of trained tokens whose sampler did not say how likely they were",
    own: true,
  },
  ...of("rollout_corr/rollout_is_", {
    mean: "Weight of a token in the loss, p / p_sampler cut off: mean",
    max: "Greatest weight; of whole sequences before it is cut off",
    min: "Least weight",
    std: "Deviation of the weights",
    ratio_fraction_high: "Share of ratios above the threshold",
    ratio_fraction_low: "Share of ratios below the lower bound, or 1 / threshold",
    eff_sample_size: "Effective share of the tokens: 1 where all weigh the same",
    oob_ratio: "IcePop: share of tokens outside the bounds, which weigh 0",
    batch_norm_factor: "What weights were divided by to have mean 1",
    seq_mean: "A sequence's mean weight: mean over sequences",
    seq_std: "Deviation over sequences",
    seq_max: "Greatest over sequences",
    seq_min: "Least over sequences",
    seq_max_deviation: "How far a sequence's mean weight is from 1 at most",
    seq_fraction_high: "Share of sequences above the threshold",
    seq_fraction_low: "Share of sequences below the lower bound",
  }),
  ...of("rollout_corr/rollout_rs_", {
    masked_fraction: "Share of tokens that rejection left out",
    seq_masked_fraction: "Share of sequences that lost a token",
  }),
  ...of("rollout_corr/rollout_rs_TEST_", {
    mean: "The statistic of a rejection test, such as token_k1: mean over tokens",
    max: "Greatest",
    min: "Least",
    std: "Deviation",
    fraction_high: "Share above the upper bound",
    fraction_low: "Share below the lower bound",
    masked_fraction: "Share of tokens that this test rejects",
    seq_masked_fraction: "Share of sequences in which it rejects a token",
    seq_mean: "A sequence's statistic: mean over sequences",
    seq_std: "Deviation over sequences",
    seq_max: "Greatest over sequences",
    seq_min: "Least over sequences",
    seq_max_deviation: "Its greatest size",
    seq_fraction_high: "Share of sequences above the upper bound",
    seq_fraction_low: "Share of sequences below the lower bound",
  }),
];

/** What a batch of trees gives to learn from. */
const treeMeanings: readonly MetricMeaning[] = (
  [
    [
      "mixed_outcome_ratio",
      "Share of prompts with a right trajectory (a score above 0) and a wrong one",
    ],
    [
      "mixed_outcome_ratio_trees",
      "The same of trajectories that began with one trajectory's first segment",
    ],
    ["mixed_outcome_ratio_forks", "The same of the trajectories below a fork"],
    [
      "mixed_outcome_ratio_anchors",
      "The same of a prompt's trajectories that met the same tool answer",
    ],
    ["informative_mass", "Mean size of the advantage of a trained token"],
    [
      "credit_spread",
      "Deviation of the advantages inside a trajectory, mean; 0 where a trajectory has one",
    ],
    ["tokens_per_leaf", "Tokens drawn, shared ones once, for each trajectory that is trained on"],
  ] as const
).map(([key, meaning]) => ({ name: `tree/${key}`, meaning, own: true }));

/** The group filter with refilling. */
const filterMeanings: readonly MetricMeaning[] = [
  {
    name: "train/num_gen_batches",
    meaning: "Batches that were rolled out to fill the step (filter_groups)",
  },
  { name: "filter/generated", meaning: "Prompts rolled out for the step", own: true },
  { name: "filter/dropped", meaning: "Prompts whose trajectories were all the same", own: true },
  { name: "filter/surplus", meaning: "Prompts that did not fit into the full batch", own: true },
];

/** Every metric that training writes, by what it is about. */
const metricMeanings: Readonly<Record<string, readonly MetricMeaning[]>> = {
  "The run": [
    { name: "training/global_step", meaning: "Steps done, this one included" },
    { name: "training/epoch", meaning: "Passes over the training prompts that were finished" },
    {
      name: "training/progress",
      meaning: "Share of the run that is done, by its steps or its budget (lab.budget)",
      own: true,
    },
    {
      name: "training/stray_errors",
      meaning:
        "Errors of a reward, a tool or a callback that nobody waited for (a floating rejection, a late throw); only where there were some",
      own: true,
    },
  ],
  "What training has cost so far; validation is not part of it": [
    {
      name: "cost/tokens",
      meaning:
        "Tokens that the policy drew: what trajectories share counts once, a fork's copied beginning not at all; prompts that were filtered out, AEPO's probes and ReMax's greedy answers count",
      own: true,
    },
    { name: "cost/calls", meaning: "Tool calls that were made, counted the same way", own: true },
    { name: "cost/trajectories", meaning: "Trajectories that were rolled out", own: true },
  ],
  "Rewards and advantages": [
    ...spread("critic/score", "What the reward gave a trajectory"),
    ...spread(
      "critic/rewards",
      "The trajectory's score again (a KL penalty on rewards shows in returns)",
    ),
    ...spread("critic/advantages", "Advantage of a trained token"),
    ...spread("critic/returns", "Return of a trained token: what a critic is to predict"),
    {
      name: "reward/PART/mean",
      meaning: "A part of the reward, or of a rubric, that is logged beside it",
      own: true,
    },
  ],
  "What there is to learn from": [...treeMeanings, ...filterMeanings],
  "A sampler that is not the policy that trains (rollout_correction)": correctionMeanings,
  "Lengths, in tokens": [
    ...spread("response_length", "A response, tool results included"),
    {
      name: "response_length/clip_ratio",
      meaning: "Share of responses that reached the response length and were cut",
    },
    ...spread("prompt_length", "A prompt"),
  ],
  Trees: [
    {
      name: "tree/entropy_rise",
      meaning:
        "Mean entropy in the 20 tokens after a tool result, less the rest of the trajectory: ARPO expects it above 0; only where trajectories have both",
      own: true,
    },
    {
      name: "tree/entropy_at_calls",
      meaning:
        "How much more likely the 5% of tokens with the greatest entropy stand within 20 tokens of a call than any token: 1 is no concentration",
      own: true,
    },
    {
      name: "branch/decided_by_entropy",
      meaning:
        "Share of the branch decisions that the entropy term changes: with `entropy_weight` 0 and the same draws they would be otherwise",
      own: true,
    },
  ],
  "The policy's update, means over its mini-batches": [
    { name: "actor/pg_loss", meaning: "Policy loss; its sign says little, its gradient counts" },
    {
      name: "actor/pg_clipfrac",
      meaning: "Share of trained tokens whose ratio was beyond a clip bound, where it counts",
    },
    {
      name: "actor/pg_clipfrac_lower",
      meaning: "Share of trained tokens with a negative advantage that the dual clip bounded",
    },
    {
      name: "actor/ppo_kl",
      meaning: "Mean of old less new ln p: about how far the policy has moved from the one sampled",
    },
    {
      name: "actor/entropy_loss",
      meaning: "Mean entropy of trained tokens before the update, nats",
    },
    { name: "actor/kl_loss", meaning: "KL estimate against the reference policy (use_kl_loss)" },
    { name: "actor/kl_coef", meaning: "Its weight in the loss" },
    {
      name: "actor/grad_norm",
      meaning:
        "Norm of the gradient before it is cut to grad_clip; a step is skipped if not finite",
    },
    {
      name: "actor/unclipped",
      meaning: "Share of steps whose gradient was above grad_clip at a server that cannot clip",
    },
    { name: "actor/lr", meaning: "Learning rate" },
    {
      name: "actor/reused_log_probs",
      meaning:
        "Share of trajectories whose ln p from before are the rollout's own (lab.reuse_log_probs)",
    },
    {
      name: "staleness/age/mean",
      meaning:
        "How many updates older the weights were that sampled the trained tokens, mean (ours)",
    },
    {
      name: "staleness/age/max",
      meaning: "The oldest of them (ours)",
    },
    {
      name: "staleness/ratio/mean",
      meaning:
        "p / p_sampler of the trained tokens before the update, mean; the sampler's weights are older (ours)",
    },
    {
      name: "staleness/ratio/max",
      meaning: "The greatest of them (ours)",
    },
    {
      name: "staleness/effective_tokens",
      meaning:
        "Effective sample size of these ratios as a share of the tokens: 1 where nothing is stale (ours)",
    },
    {
      name: "staleness/effective_trajectories",
      meaning: "The same of the ratios of whole trajectories (ours)",
    },
    {
      name: "staleness/in_queue",
      meaning: "Updates made since the batch was drawn (ours)",
    },
    {
      name: "staleness/waiting",
      meaning: "Batches that are drawn and wait behind the step's (ours)",
    },
    {
      name: "staleness/dropped",
      meaning: "Batches dropped before the step because they were older than the bound (ours)",
    },
    {
      name: "sampling/kept_mass",
      meaning:
        "Probability that top_k, top_p or min_p left where a trained token was sampled, mean: what a ratio to the sampler is too small by over the whole vocabulary (ours)",
    },
    {
      name: "sampling/kept_tokens",
      meaning: "How many tokens of the vocabulary that were, mean (ours)",
    },
    {
      name: "actor/turn_kl_entropy",
      meaning: "gspo_turn: how evenly the turns of a trajectory moved, from 0 (one of them) to 1",
    },
    { name: "actor/single_turn_count", meaning: "gspo_turn: trajectories with a single turn" },
    ...["mean", "min", "max"].map((kind) => ({
      name: `actor/fipo_iw_${kind}`,
      meaning: `future_kl: the factor of a token by what followed it, ${kind}`,
    })),
    ...["mean", "min", "max"].map((kind) => ({
      name: `actor/fipo_iw_raw_${kind}`,
      meaning: `future_kl: the same before it is clipped, ${kind}`,
    })),
    {
      name: "actor/fipo_iw_clip_total",
      meaning: "future_kl: share of trained tokens whose factor is at a bound",
    },
    { name: "actor/fipo_iw_clip_upper", meaning: "future_kl: at the upper bound" },
    { name: "actor/fipo_iw_clip_lower", meaning: "future_kl: at the lower bound" },
    { name: "actor/fipo_iw_weight", meaning: "future_kl: the weight of the factor" },
    {
      name: "actor/reward_kl_penalty",
      meaning: "Mean KL taken off the rewards (use_kl_in_reward)",
    },
    { name: "actor/reward_kl_penalty_coeff", meaning: "Its weight" },
  ],
  "The critic (gae)": [
    { name: "critic/vf_loss", meaning: "Value loss" },
    {
      name: "critic/vf_clipfrac",
      meaning: "Share of trained tokens whose value was held back by cliprange_value",
    },
    { name: "critic/grad_norm", meaning: "Norm of the critic's gradient" },
    { name: "critic/lr", meaning: "The critic's learning rate" },
  ],
  "Tools; a call that trajectories share counts once": [
    { name: "tools/total_calls", meaning: "Calls made" },
    {
      name: "tools/calls_per_sample",
      meaning:
        "Calls on a trajectory's path, mean; a call that trajectories share counts for each of them",
      own: true,
    },
    { name: "tools/successful_calls", meaning: "Calls that gave an answer" },
    { name: "tools/failed_calls", meaning: "Calls whose every attempt failed or was empty" },
    { name: "tools/total_retries", meaning: "Attempts that failed" },
    { name: "tools/max_retries", meaning: "Failed attempts of the worst call" },
    {
      name: "tools/call_limit_reached_count",
      meaning: "Trajectories ended because they asked for one call too many",
    },
    { name: "tools/TAG/calls", meaning: "Calls of one tool" },
    { name: "tools/TAG/success_rate", meaning: "Share of them that gave an answer" },
  ],
  "Validation, by data source": [
    {
      name: "val-core/SOURCE/reward/mean@N",
      meaning: "Mean reward of N answers to each question, then over questions",
    },
    {
      name: "val-core/SOURCE/reward/best@N/mean",
      meaning: "Expected best of N answers drawn with replacement",
    },
    { name: "val-aux/SOURCE/reward/std@N", meaning: "Deviation of a question's N answers, mean" },
    { name: "val-aux/SOURCE/reward/best@K/mean", meaning: "Expected best of K answers, K below N" },
    { name: "val-aux/SOURCE/reward/worst@K/mean", meaning: "Expected worst of K answers" },
  ],
  "Times, in seconds; in timing.jsonl, because they differ from run to run": [
    { name: "timing_s/gen", meaning: "Rollout, tools included" },
    {
      name: "timing_s/tool_calls",
      meaning: "The part of it in which at least one tool was at work",
      own: true,
    },
    { name: "timing_s/reward", meaning: "Scoring" },
    { name: "timing_s/values", meaning: "The critic's values" },
    { name: "timing_s/old_log_prob", meaning: "Log-probabilities before the update" },
    { name: "timing_s/adv", meaning: "Advantages" },
    { name: "timing_s/update_critic", meaning: "The critic's update" },
    { name: "timing_s/update_actor", meaning: "The policy's update" },
    { name: "timing_s/step", meaning: "The whole step, without validation and saving" },
    {
      name: "perf/cpu_seconds",
      meaning:
        "CPU time of all steps so far, in this process and (on Linux) in the tools' processes; over every process that the run was resumed in",
      own: true,
    },
    { name: "tools/total_execution_time", meaning: "Sum over calls, also of those that overlap" },
    { name: "tools/avg_execution_time", meaning: "The same per call" },
    { name: "tools/max_execution_time", meaning: "The longest call" },
    { name: "tools/TAG/avg_time", meaning: "Mean time of one tool's calls" },
  ],
};

const list = Object.values(metricMeanings).flat();
const patterns = list.map((metric) => ({
  metric,
  pattern: new RegExp(
    `^${metric.name
      .replace(/[/@-]/g, (c) => `\\${c}`)
      .replace(/\b[NK]\b/g, "\\d+")
      .replace(/SOURCE|TAG|TEST|PART/g, ".+")}$`,
  ),
}));

/** What a metric means, or undefined for a name that training never writes. */
export function metricMeaning(name: string): MetricMeaning | undefined {
  return (
    list.find((metric) => metric.name === name) ??
    patterns.find(({ pattern }) => pattern.test(name))?.metric
  );
}

/** A cell of a Markdown table. */
const cell = (text: string) => text.replaceAll("|", "\\|");

/** `docs/metrics.md`. */
export function metricsPage(): string {
  const sections = Object.entries(metricMeanings).map(
    ([title, metrics]) =>
      `## ${title}\n\n${metrics.map(({ name, meaning, own }) => `- \`${name}\`: ${meaning}${own ? " (ours)" : ""}`).join("\n")}\n`,
  );
  return `# Metrics

A run writes these metrics to \`metrics.jsonl\` and its loggers, one line per step, under the names of the reference (verl with ARPO's
tools). Metrics without a name there are marked "(ours)". The table of \`arpo-lab train\` shows a few of them. This page is generated from the
code.

${sections.join("\n")}`;
}

const shown = (value: unknown) => (value === undefined ? "" : `\`${JSON.stringify(value)}\``);

/** `docs/config.md`. */
export function configPage(): string {
  const used = configKeys().filter(({ kept }) => !kept);
  const kept = configKeys().filter((key) => key.kept);
  const rows = used.map(
    ({ path, default: by, description = "" }) =>
      `| \`${path}\` | ${cell(shown(by))} | ${cell(description)} |`,
  );
  return `# Configuration

\`\`\`sh
npx arpo-lab train --preset arpo --preset tiny --config run.yaml trainer.total_training_steps=10
\`\`\`

The keys are verl's and ARPO's; files written for them load unchanged, with \`key=value\`,
\`++key=value\` and \`\${…}\`. Keys under \`lab\` are ours. Presets: \`--preset grpo\`, \`arpo\`
or \`aepo\`, and a size over it: \`tiny\`, \`3b-toy\`, \`7b\`, \`8b\`, \`14b\`. An unknown key is an error that
names the nearest known one. This page is generated from the code.

Paths in a file are relative to the file's folder, or else to the working folder. Output paths, and paths on the command line, are
relative to the working folder. \`~\` is the home folder.

<!-- prettier-ignore -->
| key | default | what it does |
| --- | --- | --- |
${rows.join("\n")}

## Keys without effect

These keys are checked, written into the run's configuration and listed when they are set, but have no effect. They are about clusters
or other engines, or switch off what is always on here. Checkpoints are always complete, tool results are always masked, every weight of a
critic is trained, and rewards are computed one sample at a time.

${kept.map(({ path }) => `\`${path}\``).join(", ")}
`;
}
