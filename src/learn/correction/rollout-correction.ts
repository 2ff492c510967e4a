import {
  checkOptions,
  either,
  oneOf,
  only,
  type OptionRule,
  type OptionRules,
  positive,
} from "../../arguments/check-options.js";
import { shown } from "../../arguments/shown.js";
import type { ScoredRow } from "../batch.js";
import type { WeightLevel } from "./correction-weights.js";
import { readTests } from "./rejection-tests.js";
import { isBounds, parseBounds, type Threshold } from "./thresholds.js";

/** How an update corrects for a sampler that is not the policy that trains (`rollout_correction`). */
export interface RolloutCorrection {
  /**
   * `always`, or `auto`: only where a row's sampler is not the policy that trains. Default: `always`
   * where options are given, `auto` where none are.
   */
  when?: "always" | "auto";
  /** Importance weights by token or by row (`rollout_is`); null for none. Default: `token`. */
  weights?: WeightLevel | null;
  /** One number truncates weights, `"lower_upper"` drops those outside (IcePop). Default: 2. */
  threshold?: Threshold;
  /** Divide weights by their mean (`rollout_is_batch_normalize`). Default: off. */
  normalize?: boolean;
  /** Tests that tokens or rows must pass (`rollout_rs`), with commas. Default: none. */
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
  const { weights = "token", threshold = 2, normalize = false, mode = "decoupled" } = options;
  const { reject, rejectThreshold, inverseK1 = false, bypassLoss = "ppo_clip" } = options;
  parseBounds("threshold", threshold);
  const rejects = reject !== undefined && reject !== null;
  if (rejects && (rejectThreshold === undefined || rejectThreshold === null)) {
    refuse("rejectThreshold", `given for ${reject}`, rejectThreshold);
  }
  const rejection = rejects ? { reject, rejectThreshold: rejectThreshold!, inverseK1 } : undefined;
  if (rejection) readTests(rejection);
  return {
    ...{ weights, threshold, normalize, rejection },
    bypass: mode === "bypass" ? bypassLoss : undefined,
  };
}

/**
 * The correction of some rows, where there is one. Without a word from anyone it is on where what
 * sampled is not the policy that trains (`trajectory.sampler`), and off where it is.
 */
export function correctionOf(
  option: RolloutCorrection | boolean | undefined,
  rows: readonly Pick<ScoredRow, "trajectory">[],
): CorrectionSettings | undefined {
  if (option === false) return undefined;
  const options = typeof option === "object" ? option : {};
  // Checked also where it is not needed now.
  const settings = correctionSettings(options);
  const auto = option === undefined || options.when === "auto";
  const other = rows.some(({ trajectory }) => trajectory.sampler !== undefined);
  return auto && !other ? undefined : settings;
}
