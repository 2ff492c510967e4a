import {
  checkOptions,
  either,
  oneOf,
  only,
  type OptionRule,
  type OptionRules,
  positive,
} from "../../../common/options/check-options.js";
import { shown } from "../../../common/options/check-arguments.js";
import { detached } from "../../tensor/detached.js";
import { withoutMasked } from "../../tensor/extremum.js";
import { tf } from "../../tensor/tf.js";
import { type ScoredSequence, type PreparedSequence, saidLogprobs } from "../batch.js";
import { isStale } from "../staleness.js";
import type { Tensor } from "../losses/base/aggregate.js";
import { type WeightLevel, correctionWeights } from "./weights.js";
import { type Figures, sequenceCount, largestLogRatio, mismatchMetrics } from "./figures.js";
import { rejectionMask, readTests, isBounds, parseBounds, type Threshold } from "./rejection.js";

/** The defaults of two sources. */
const forms = {
  verl: { weights: "token", threshold: 2, outside: undefined },
  trl: { weights: "sequence", threshold: 3, outside: "drop" },
} as const satisfies Record<string, Pick<CorrectionSettings, "weights" | "threshold" | "outside">>;

/** How an update corrects for a sampler that is not the policy that trains (`rollout_correction`). */
export interface RolloutCorrection {
  /**
   * `always`, or `auto`: only where a sequence's sampler is not the policy that trains: another one, or older
   * weights of it. Default: `always` where options are given, `auto` where none are.
   */
  when?: "always" | "auto";
  /**
   * Whose defaults: `verl`, or `trl`, whose weight is the trajectory's, 0 above 3. Default: `verl`.
   */
  form?: keyof typeof forms;
  /** Importance weights by token or by sequence (`rollout_is`); null for none. Default: `token`, of trl `sequence`. */
  weights?: WeightLevel | null;
  /** One number truncates weights, `"lower_upper"` drops those outside (IcePop). Default: 2, of trl 3. */
  threshold?: Threshold;
  /**
   * Weights out of bounds: brought to the nearest bound (`cut`, TRL's truncate), or 0 (`drop`, TRL's mask). Default: `cut`
   * for one number and `drop` for two, of trl `drop`.
   */
  outside?: "cut" | "drop";
  /** Divide weights by their mean (`rollout_is_batch_normalize`). Default: off. */
  normalize?: boolean;
  /** Tests that tokens or sequences must pass (`rollout_rs`), with commas. Default: none. */
  reject?: string | null;
  /** What the tests are held to (`rollout_rs_threshold`). */
  rejectThreshold?: Threshold | null;
  /** As verl: k1's bounds are those of p_sampler / p. Default: of p / p_sampler, as the weights'. */
  inverseK1?: boolean;
  /**
   * `decoupled` (the default): ratios are against the policy before the update, weights correct for
   * the sampler. `bypass`: ratios are against the sampler itself, and nothing is measured before.
   */
  mode?: "decoupled" | "bypass";
  /**
   * What bypass minimises: PPO's clipped ratio against the sampler, or the plain policy gradient under
   * the weights (`loss_type`). Default: `ppo_clip`.
   */
  bypassLoss?: "ppo_clip" | "reinforce";
}

const threshold: OptionRule = {
  must: 'a number above 0, or two as "lower_upper"',
  holds: (value) =>
    typeof value === "string" ? value.split(",").every(isBounds) : positive.holds(value),
  number: true,
};

export const correctionRules: OptionRules<RolloutCorrection> = {
  when: oneOf(["always", "auto"]),
  form: oneOf(["verl", "trl"]),
  outside: oneOf(["cut", "drop"]),
  weights: either(oneOf(["token", "sequence"]), only(null)),
  threshold,
  normalize: "boolean?",
  reject: either("text", only(null)),
  rejectThreshold: either(threshold, only(null)),
  inverseK1: "boolean?",
  mode: oneOf(["decoupled", "bypass"]),
  bypassLoss: oneOf(["ppo_clip", "reinforce"]),
};

/** A correction with everything decided. */
export interface CorrectionSettings {
  weights: WeightLevel | null;
  threshold: Threshold;
  outside: "cut" | "drop" | undefined;
  normalize: boolean;
  rejection: { reject: string; rejectThreshold: Threshold; inverseK1: boolean } | undefined;
  bypass: "ppo_clip" | "reinforce" | undefined;
}

function refuse(name: string, must: string, value: unknown): never {
  throw new RangeError(`Cannot correct a rollout: ${name} must be ${must}, got ${shown(value)}`);
}

/** Completes a correction, and refuses what cannot be. */
function correctionSettings(options: RolloutCorrection): CorrectionSettings {
  checkOptions("correct a rollout", options, correctionRules);
  const base = forms[options.form ?? "verl"];
  const { weights = base.weights, threshold = base.threshold, outside = base.outside } = options;
  const { normalize = false, mode = "decoupled" } = options;
  const { reject, rejectThreshold, inverseK1 = false, bypassLoss = "ppo_clip" } = options;
  parseBounds("threshold", threshold);
  const rejects = reject !== undefined && reject !== null;
  if (rejects && (rejectThreshold === undefined || rejectThreshold === null)) {
    refuse("rejectThreshold", `given for ${reject}`, rejectThreshold);
  }
  const rejection = rejects ? { reject, rejectThreshold: rejectThreshold!, inverseK1 } : undefined;
  if (rejection) readTests(rejection);
  return {
    ...{ weights, threshold, outside, normalize, rejection },
    bypass: mode === "bypass" ? bypassLoss : undefined,
  };
}

/**
 * The correction of some sequences, where there is one. Without a word from anyone it is on where what
 * sampled is not the policy that trains (`trajectory.sampler`) or older weights of it (`ages`), and off elsewhere.
 */
export function correctionOf(
  option: RolloutCorrection | boolean | undefined,
  sequences: readonly (Pick<ScoredSequence, "trajectory"> & Pick<PreparedSequence, "ages">)[],
): CorrectionSettings | undefined {
  if (option === false) return undefined;
  const options = typeof option === "object" ? option : {};
  // Checked also where it is not needed now.
  const settings = correctionSettings(options);
  const auto = option === undefined || options.when === "auto";
  const other = sequences.some((one) => one.trajectory.sampler !== undefined || isStale(one));
  return auto && !other ? undefined : settings;
}

const named = (metrics: Figures): Figures =>
  Object.fromEntries(Object.entries(metrics).map(([key, v]) => [`rollout_corr/${key}`, v]));

/** What is read of a trajectory that somebody sampled. */
type Sampled = Pick<PreparedSequence, "trajectory" | "oldOver">;

/** 1 on the trained tokens whose sampler said how likely they were. */
export function knownMask(sequence: Sampled): Uint8Array {
  const logprobs = saidLogprobs(sequence);
  return sequence.trajectory.lossMask.map((m, t) => (m && Number.isFinite(logprobs[t]) ? 1 : 0));
}

/** The figures of a correction, and what it makes of each token. */
interface Corrected {
  weights: Float64Array[] | undefined;
  kept: Float64Array[] | undefined;
  metrics: Figures;
}

/** Compares sequences' log-probabilities under the policy that trains with those of their sampler. */
function compare(
  sequences: readonly Sampled[],
  logprobs: readonly Float32Array[],
  known: readonly Uint8Array[],
  { weights: level, threshold, outside, normalize, rejection }: CorrectionSettings,
): Corrected {
  const trained = sequences.reduce(
    (n, { trajectory }) => n + sequenceCount(trajectory.lossMask),
    0,
  );
  const said = known.reduce((n, sequence) => n + sequenceCount(sequence), 0);
  const unknown = { "rollout_corr/unknown_fraction": trained === 0 ? 0 : 1 - said / trained };
  if (said === 0) return { weights: undefined, kept: undefined, metrics: unknown };
  const sampledLogprobs = sequences.map(saidLogprobs);
  const logRatio = logprobs.map((sequence, i) =>
    sequence.map((p, t) => p - sampledLogprobs[i]![t]!),
  );
  const batch = { logRatio, mask: known };
  const weighed =
    level === null
      ? undefined
      : correctionWeights(batch, {
          ...{ weights: level, threshold, normalize },
          ...(outside ? { outside } : {}),
        });
  const tested = rejection && rejectionMask(batch, rejection);
  return {
    weights: weighed?.weights,
    kept: tested?.mask,
    metrics: {
      ...unknown,
      ...named({
        ...weighed?.metrics,
        ...tested?.metrics,
        ...mismatchMetrics({ logprobs, sampledLogprobs, mask: known }),
      }),
    },
  };
}

/** Takes back what an earlier correction wrote. */
function clear(sequence: PreparedSequence): void {
  delete sequence.rolloutWeights;
  delete sequence.wholeWeights;
  delete sequence.keptMask;
}

/**
 * Writes into sequences what a correction makes of them: weights for the loss, and the mask that rejection
 * leaves. A token whose sampler did not say how likely it was has no ratio: it gets its sequence's weight, or
 * 1, and goes with its sequence. Without a correction sequences are as they were before any.
 */
export function correctSequences(
  sequences: readonly PreparedSequence[],
  settings: CorrectionSettings | undefined,
): Figures {
  sequences.forEach(clear);
  if (!settings) return {};
  const known = sequences.map(knownMask);
  if (settings.bypass) {
    // Only what the sampler drew has a ratio against it; the loss makes the weights as it goes.
    sequences.forEach((sequence, i) => (sequence.keptMask = known[i]!));
    return {};
  }
  const logprobs = sequences.map((sequence) => sequence.oldLogprobs);
  const { weights, kept, metrics } = compare(sequences, logprobs, known, settings);
  sequences.forEach((sequence, i) => {
    const { lossMask } = sequence.trajectory;
    const own = known[i]!;
    const first = own.indexOf(1);
    if (weights) {
      const ofSequence = settings.weights === "sequence" && first >= 0 ? weights[i]![first]! : 1;
      if (settings.weights === "sequence") sequence.wholeWeights = true;
      sequence.rolloutWeights = Float32Array.from(lossMask, (m, t) =>
        own[t] ? weights[i]![t]! : m * ofSequence,
      );
    }
    if (kept) {
      const stays = first < 0 || kept[i]!.includes(1);
      sequence.keptMask = lossMask.map((m, t) => (own[t] ? kept[i]![t]! : stays ? m : 0));
    }
  });
  return metrics;
}

/** Takes what the sampler said for what was measured before the update. */
export function bypassMeasuring<R extends ScoredSequence & Pick<PreparedSequence, "oldOver">>(
  sequences: readonly R[],
): (R & PreparedSequence)[] {
  const prepared = sequences.map((sequence) => {
    const { entropies } = sequence.trajectory;
    const oldLogprobs = saidLogprobs(sequence).map((p) => (Number.isFinite(p) ? p : 0));
    return Object.assign(sequence, { oldLogprobs, entropies, oldFrom: "sampler" as const });
  });
  const trains = sequences.some(({ trajectory }) => trajectory.lossMask.includes(1));
  if (!trains || prepared.some((sequence) => knownMask(sequence).includes(1))) return prepared;
  throw new TypeError(
    "Cannot bypass measuring: the sampler must have said how likely its tokens were, got none",
  );
}

/** The figures of sequences whose log-probabilities under the policy that trains are others than before. */
export function correctionFigures(
  sequences: readonly Sampled[],
  logprobs: readonly Float32Array[],
  settings: CorrectionSettings,
): Figures {
  return compare(sequences, logprobs, sequences.map(knownMask), settings).metrics;
}

/**
 * Writes into sequences what a bypass's tests leave of them as the policy stands now. Tokens that fail are not counted:
 * a mean is over those that are left.
 */
export function rejectSequences(
  sequences: readonly PreparedSequence[],
  logprobs: readonly Float32Array[],
  settings: CorrectionSettings,
): void {
  const known = sequences.map(knownMask);
  const { kept } = compare(sequences, logprobs, known, { ...settings, weights: null });
  kept?.forEach((mask, i) => (sequences[i]!.keptMask = Uint8Array.from(mask)));
}

const boundedTensor = (x: Tensor): Tensor => x.clipByValue(-largestLogRatio, largestLogRatio);

/** Importance weights as `correctionWeights` makes them, of [sequences, tokens]. */
function weightsOf(logRatio: Tensor, mask: Tensor, settings: CorrectionSettings): Tensor {
  const { lower, upper } = parseBounds("threshold", settings.threshold);
  const ofSequences = settings.weights === "sequence";
  const sums: Tensor = logRatio.mul(mask).sum(-1, true);
  const raw: Tensor = boundedTensor(ofSequences ? sums : logRatio)
    .exp()
    .mul(mask);
  const drops = (settings.outside ?? (lower === undefined ? "cut" : "drop")) === "drop";
  const weights: Tensor = !drops
    ? raw.clipByValue(lower ?? 0, upper).mul(mask)
    : raw.mul(
        raw
          .greaterEqual(lower ?? 0)
          .logicalAnd(raw.lessEqual(upper))
          .cast("float32"),
      );
  if (!settings.normalize) return weights;
  const counts: Tensor = mask.sum(-1);
  const mean: Tensor = ofSequences
    ? weights
        .sum(-1)
        .div(counts.add(1e-8))
        .sum()
        .div(tf.maximum(counts.greater(0).cast("float32").sum(), 1e-8))
    : weights.sum().div(mask.sum().add(1e-8));
  return weights.div(tf.where(mean.greater(1e-8), mean, tf.onesLike(mean)));
}

/**
 * What bypass multiplies the token losses by, as the policy stands now: importance weights where the
 * loss has no ratio of its own. Undefined where that is 1 everywhere.
 */
export function bypassWeights(
  logprobs: Tensor,
  sampledLogprobs: Tensor,
  mask: Tensor,
  settings: CorrectionSettings,
): Tensor | undefined {
  if (settings.bypass !== "reinforce" || settings.weights === null) return undefined;
  const logRatio = withoutMasked(detached(logprobs).sub(sampledLogprobs), mask);
  return weightsOf(logRatio, mask, settings);
}
