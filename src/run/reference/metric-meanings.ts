import { correctionMeanings, filterMeanings, treeMeanings } from "./correction-meanings.js";
import { type MetricMeaning, spread } from "./metric-meaning.js";

/** Every metric that training writes, by what it is about. */
export const metricMeanings: Readonly<Record<string, readonly MetricMeaning[]>> = {
  "The run": [
    { name: "training/global_step", meaning: "Steps done, this one included" },
    { name: "training/epoch", meaning: "Passes over the training prompts that were finished" },
    {
      name: "training/stray_errors",
      meaning:
        "Errors of a reward, a tool or a callback that nobody waited for (a floating rejection, a late throw); only where there were some",
      own: true,
    },
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
        "Mean entropy in the 20 tokens after a tool result, less the rest of the row: ARPO expects it above 0; only where rows have both",
      own: true,
    },
    {
      name: "tree/entropy_at_calls",
      meaning:
        "How much more likely the 5% of tokens with the greatest entropy stand within 20 tokens of a call than any token: 1 is no concentration",
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
      meaning: "Share of rows whose ln p from before are the rollout's own (lab.reuse_log_probs)",
    },
    {
      name: "actor/turn_kl_entropy",
      meaning: "gspo_turn: how evenly the turns of a row moved, from 0 (one of them) to 1",
    },
    { name: "actor/single_turn_count", meaning: "gspo_turn: rows with a single turn" },
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
  "Tools; a call that rows share counts once": [
    { name: "tools/total_calls", meaning: "Calls made" },
    {
      name: "tools/calls_per_sample",
      meaning: "Calls on a trajectory's path, mean; a call that rows share counts for each of them",
      own: true,
    },
    { name: "tools/successful_calls", meaning: "Calls that gave an answer" },
    { name: "tools/failed_calls", meaning: "Calls whose every attempt failed or was empty" },
    { name: "tools/total_retries", meaning: "Attempts that failed" },
    { name: "tools/max_retries", meaning: "Failed attempts of the worst call" },
    {
      name: "tools/call_limit_reached_count",
      meaning: "Rows ended because they asked for one call too many",
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
