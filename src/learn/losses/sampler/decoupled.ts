import { above, oneOf, positive } from "../../../../common/options/check-options.js";
import { key, option, unset } from "../../../../common/options/option-table.js";
import type { Tensor } from "../base/aggregate.js";
import { defineLoss, type LossOps } from "../base/definition.js";
import * as f from "../base/formula.js";
import { clipBounds, policyLoss } from "../base/options.js";
import type { PolicyLossInput } from "../base/tensor-ops.js";
import {
  clamp,
  dualClippedOutcome,
  type LossRow,
  perRow,
  rowLogRatio,
} from "../base/token-rule.js";
import { type Proximal, proximalLogprob, proximals, proximalTensor } from "./proximal.js";

const metrics = ["ratio", "kl_k1", "kl_k2", "kl_k3"] as const;

export const decoupledOptions = {
  /** Decoupled PPO: what becomes of a token that the sampler found much less or more likely. Default: `mask`. */
  staleAction: option(
    oneOf(["mask", "clamp", "none"]),
    "mask",
    key(
      `${policyLoss}.stale_action`,
      "decoupled: leave out what is out of bounds (mask), bound its weight (clamp), or weigh nothing (none)",
    ),
  ),
  /** Decoupled PPO: whether tokens or whole trajectories are held to the bounds. Default: `token`. */
  staleLevel: option(
    oneOf(["token", "sequence"]),
    "token",
    key(`${policyLoss}.stale_level`, "decoupled: hold tokens or whole trajectories to the bounds"),
  ),
  /** Decoupled PPO: what the bounds are of. Default: `ratio`. */
  staleMetric: option(
    oneOf(metrics),
    "ratio",
    key(
      `${policyLoss}.stale_metric`,
      "decoupled: what the bounds are of, between the policy before the step and the sampler",
    ),
  ),
  /** Decoupled PPO: what a trajectory's tokens are taken together by, at the level `sequence`. Default: `mean`. */
  staleAggregate: option(
    oneOf(["mean", "sum", "max"]),
    "mean",
    key(`${policyLoss}.stale_aggregate`, "decoupled: how a trajectory's tokens are taken together"),
  ),
  /** Decoupled PPO: the upper bound. Default: 5. */
  staleUpper: option(
    positive,
    5,
    key(`${policyLoss}.stale_upper`, "decoupled: the upper bound of stale_metric"),
  ),
  /** Decoupled PPO: the lower bound. Default: none. */
  staleLower: unset(
    above(0),
    key(`${policyLoss}.stale_lower`, "decoupled: the lower bound; none: no bound"),
  ),
  /**
   * Decoupled PPO: where the policy before the step is known from: `measured`, by a pass of its own; without one from how
   * many updates old the sampler is, on the way from it to the policy of now, of log-probabilities (`loglinear`) or
   * probabilities (`linear`); or `rollout`, the sampler itself. Default: `measured`.
   */
  proximal: option(
    oneOf(proximals),
    "measured",
    key(
      `${policyLoss}.proximal`,
      "decoupled: measure the policy before the step, or make it of the sampler's and its age",
    ),
  ),
  /** Decoupled PPO: one ratio for each token, or one for the trajectory, against its mean advantage. Default: `token`. */
  ratioLevel: option(
    oneOf(["token", "sequence"]),
    "token",
    key(
      `${policyLoss}.ratio_level`,
      "decoupled: a ratio for each token, or one for the trajectory",
    ),
  ),
};

type Settings = {
  proximal: Proximal;
  staleAction: "mask" | "clamp" | "none";
  staleLevel: "token" | "sequence";
  staleMetric: (typeof metrics)[number];
  staleAggregate: "mean" | "sum" | "max";
  staleUpper: number;
  staleLower?: number;
};

/** What is held to the bounds of a token, given its log ratio: before the step over at the sampler. */
const metricOf = {
  ratio: (log: number) => log,
  kl_k1: (log: number) => log,
  kl_k2: (log: number) => log ** 2 / 2,
  kl_k3: (log: number) => Math.exp(-log) - 1 + log,
};

/**
 * What each token weighs because its sampler was an older policy, p before the step / p of the sampler, and 0 where it is
 * left out. A sampler that did not say how likely its token was counts as the policy before the step.
 */
export function staleWeights(
  rows: readonly LossRow[],
  settings: Omit<Settings, "proximal">,
): { weights: number[]; changed: number[] }[] {
  const { staleAction, staleLevel, staleMetric, staleAggregate, staleUpper, staleLower } = settings;
  return rows.map(({ oldLogprobs, sampledLogprobs, mask }) => {
    const own = Array.from(mask).flatMap((m, t) => (m ? [t] : []));
    const raw = own.map((t) => oldLogprobs[t]! - (sampledLogprobs ?? oldLogprobs)[t]!);
    const logs = raw.map((log) => (Number.isFinite(log) ? log : 0));
    const whole = staleLevel === "sequence";
    const byMean = whole && staleMetric === "ratio";
    const mean = logs.reduce((sum, log) => sum + log, 0) / Math.max(1, logs.length);
    const weights = logs.map((log) => Math.exp(byMean ? mean : log));
    // As published: what is not finite counts as 0 in a ratio and is out of the bounds of a KL.
    const values = (staleMetric === "ratio" ? logs : raw).map(metricOf[staleMetric]);
    const sum = values.reduce((all, v) => all + v, 0);
    const together = {
      ...{ sum, mean: sum / Math.max(1, values.length) },
      max: values.length === 0 ? 0 : Math.max(...values),
    }[staleAggregate];
    const statistic = (i: number) => {
      const value = whole ? together : values[i]!;
      return staleMetric === "ratio" ? Math.exp(value) : value;
    };
    const out = {
      weights: new Array<number>(mask.length).fill(0),
      changed: new Array<number>(mask.length).fill(0),
    };
    own.forEach((t, i) => {
      const within = statistic(i) <= staleUpper && statistic(i) >= (staleLower ?? -Infinity);
      const bounded = clamp(weights[i]!, staleLower ?? 0, staleUpper);
      const kept = {
        none: 1,
        mask: within ? weights[i]! : 0,
        clamp: whole && within ? weights[i]! : bounded,
      }[staleAction];
      out.weights[t] = kept;
      out.changed[t] = Number(staleAction !== "none" && kept !== weights[i]);
    });
    return out;
  });
}

/** A batch whose policy before the step is the one that was asked for. */
function withProximal(
  input: PolicyLossInput,
  { proximal: form }: Settings,
  { tf, detached }: LossOps,
) {
  const { logprobs, oldLogprobs, sampledLogprobs = oldLogprobs } = input;
  if (form === "measured") return input;
  const ages: Tensor = input.ages ?? tf.zerosLike(logprobs);
  return { ...input, oldLogprobs: proximalTensor(form, sampledLogprobs, detached(logprobs), ages) };
}

/** The same of rows of plain numbers. */
const rowsWithProximal = (rows: readonly LossRow[], { proximal: form }: Settings) =>
  form === "measured"
    ? rows
    : rows.map((row): LossRow => {
        const { logprobs, oldLogprobs, sampledLogprobs = oldLogprobs, ages } = row;
        const made = Array.from(logprobs, (now, t) =>
          proximalLogprob(form, sampledLogprobs[t]!, now, ages?.[t] ?? -1),
        );
        return { ...row, oldLogprobs: made };
      });

/** The rows of a loss's input, where nothing in them has a gradient. */
function rowsOf({ oldLogprobs, sampledLogprobs = oldLogprobs, mask }: PolicyLossInput): LossRow[] {
  const [time = 0] = mask.shape.slice(-1);
  const numbers = (x: Tensor) => x.dataSync() as Float32Array;
  const [old, sampled, own] = [numbers(oldLogprobs), numbers(sampledLogprobs), numbers(mask)];
  return Array.from({ length: mask.shape[0]! }, (_, r) => {
    const of = (all: Float32Array) => all.subarray(r * time, (r + 1) * time);
    const oldRow = of(old);
    const rest = { logprobs: oldRow, advantages: oldRow, mask: of(own) };
    return { ...rest, oldLogprobs: oldRow, sampledLogprobs: of(sampled) };
  });
}

/** Ratio and advantage, of tokens or of trajectories whose tokens are kept. */
function ratioOf(input: PolicyLossInput, kept: Tensor, whole: boolean, { tf }: LossOps) {
  const { logprobs, oldLogprobs, advantages } = input;
  const logRatio: Tensor = logprobs.sub(oldLogprobs);
  if (!whole) return { ratio: logRatio.exp<Tensor>(), advantages };
  const counts: Tensor = tf.maximum(kept.sum(-1, true), 1);
  const mean = (x: Tensor): Tensor => x.mul(kept).sum<Tensor>(-1, true).div<Tensor>(counts);
  const spread = (x: Tensor): Tensor => x.add<Tensor>(tf.zerosLike(logRatio));
  return { ratio: spread(mean(logRatio).exp()), advantages: spread(mean(advantages)) };
}

/**
 * Decoupled PPO: the ratio is against the policy before the step, so that the clip bounds the step alone; that what was
 * sampled came from an older one is corrected by a weight without a gradient. Tokens that are left out are counted.
 */
export const decoupled = defineLoss({
  name: "decoupled",
  title: "Decoupled PPO",
  aggregation: "token-mean",
  rule: "verl-0.9.1",
  clips: "ratio",
  readsC: true,
  asks: "sampler",
  unmeasured: ({ proximal }) => proximal !== "measured",
  options: decoupledOptions,
  views: {
    decoupled: {
      label: "Decoupled PPO",
      summary: "The clip bounds the step; a weight corrects for an older policy that sampled.",
    },
  },

  tensors(given, options, ops) {
    const { tf, evenMaximum, evenMinimum, maskedTensorMean } = ops;
    const input = withProximal(given, options, ops);
    const { mask } = input;
    const { low, high, c } = clipBounds(options);
    const stale = staleWeights(rowsOf(input), options);
    const weights = tf.tensor2d(stale.map((row) => row.weights));
    const changed = tf.tensor2d(stale.map((row) => row.changed));
    const kept: Tensor = weights.greater(0).cast("float32").mul(mask);
    const { ratio, advantages } = ratioOf(input, kept, options.ratioLevel === "sequence", ops);
    const unclipped: Tensor = ratio.mul(advantages).neg();
    const clipped: Tensor = ops.clip(ratio, low, high).mul(advantages).neg();
    const worse = evenMaximum(unclipped, clipped);
    const losses = evenMinimum(worse, advantages.abs().mul(c));
    const share = (condition: Tensor) =>
      maskedTensorMean(condition.cast("float32").mul(kept), mask);
    return {
      loss: ops.total(losses.mul(weights)),
      metrics: {
        ...ops.figures(input, ops.boundedLogRatio(input)),
        pg_clipfrac: share(clipped.greater(unclipped)),
        pg_clipfrac_lower: share(worse.greater(advantages.abs().mul(c))),
        stale_weight: maskedTensorMean(weights, mask),
        stale_changed: maskedTensorMean(changed, mask),
      },
    };
  },

  share(given, settings) {
    const rows = rowsWithProximal(given, settings);
    const weights = staleWeights(rows, settings).map((row) => row.weights);
    const whole = settings.ratioLevel === "sequence";
    const kept = rows.map((row, r) => ({ ...row, mask: weights[r]!.map((w) => Number(w > 0)) }));
    const log = perRow(kept, rowLogRatio);
    const mean = perRow(kept, ({ advantages, mask }) => {
      const own = Array.from(advantages).filter((_, t) => mask[t]);
      return own.reduce((sum, a) => sum + a, 0) / Math.max(1, own.length);
    });
    const ratio = (r: number, t: number) =>
      Math.exp(rows[r]!.logprobs[t]! - rows[r]!.oldLogprobs[t]!);
    return (r, t) => ({
      staleWeight: weights[r]![t]!,
      ...(settings.proximal === "measured" ? {} : { ratio: ratio(r, t) }),
      ...(whole ? { ratio: Math.exp(log(r)), meanAdvantage: mean(r) } : {}),
    });
  },
  token({ ratio: own, advantage }, { ratio = own, meanAdvantage, staleWeight = 1 }, options) {
    const outcome = dualClippedOutcome(ratio, meanAdvantage ?? advantage, options);
    const { weight, loss, terms } = outcome;
    return {
      ...outcome,
      ...(staleWeight === 0 ? { region: "dropped" as const } : {}),
      ...{ weight: weight * staleWeight, loss: loss * staleWeight },
      terms: { ...terms, staleWeight },
    };
  },

  formula() {
    const weight = f.symbol("staleWeight", f.sub(f.mi("w"), f.mi("t")));
    const code = ["decoupled.tensors.unclipped", "decoupled.tensors.worse"];
    const policy = (name: string) => f.sub(f.mi("π"), f.mi(name));
    return [
      f.tokenRatio("ratioOf.logRatio"),
      f.clipLine("decoupled.tensors.clipped"),
      f.line(
        "Weight: the token's probability before the step over that at its sampler; 0 where it is left out",
        f.math(weight, f.equals, f.stopped(f.frac(policy("old"), policy("sampler")))),
        "staleWeights.kept",
      ),
      f.tokenLoss(f.row(weight, f.times, f.candidates(f.given)), ...code),
    ];
  },
  gradient: { code: ["clippedOutcome.return", "decoupled.token.return"] },
});
