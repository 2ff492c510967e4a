import { withoutMasked } from "../../../tensor/extremum.js";
import { tf } from "../../../tensor/tf.js";
import { type Rows, maskedMean } from "../../masked.js";
import type { Tensor } from "./aggregate.js";
import { type KlKind, klKinds } from "./options.js";
import { widestLogRatio } from "./token-rule.js";
import { mean } from "../../../base/statistics.js";

/**
 * An estimate of the KL divergence from the reference policy at each token, with d = logp - ref:
 * `kl` or `k1` is d, `abs` is |d|, `mse` or `k2` is d²/2, `low_var_kl` or `k3` is exp(-d) + d - 1,
 * clamped to [-10, 10].
 */
export function klPenalty(logprobs: Tensor, reference: Tensor, kind: KlKind): Tensor {
  const d: Tensor = logprobs.sub(reference);
  switch (kind) {
    case "kl":
    case "k1":
      return d;
    case "abs":
      // |d| with slope 0 at 0, where tf.abs has slope -1.
      return d.mul(d.sign());
    case "mse":
    case "k2":
      return d.square().mul(0.5);
    case "low_var_kl":
    case "k3":
      // What is beyond 20 is beyond 10 behind it: the first bound keeps the gradient finite.
      return d
        .neg()
        .clipByValue(-widestLogRatio, widestLogRatio)
        .exp<Tensor>()
        .add<Tensor>(d)
        .sub<Tensor>(1)
        .clipByValue(-10, 10);
    default:
      throw new RangeError(
        `Cannot estimate a KL divergence: the kind must be one of ${klKinds.join(", ")}, got ${String(kind)}`,
      );
  }
}

/** How the KL coefficient moves during training. */
export type KlControl =
  | { type: "fixed"; coefficient: number }
  | { type: "adaptive"; coefficient: number; target: number; horizon: number };

/** How far one update may move the coefficient, per horizon. */
const largestError = 0.2;

/**
 * The coefficient after one update. A fixed one stays; an adaptive one grows while the measured KL is
 * above its target and shrinks while it is below.
 */
export function controlKl<T extends KlControl>(control: T, seen: { kl: number; steps: number }): T {
  const { kl, steps } = seen;
  if (control.type === "fixed") return control;
  const { target, horizon, coefficient } = control;
  if (!(horizon > 0)) {
    throw new RangeError(`Cannot control KL: the horizon must be positive, got ${horizon}`);
  }
  const error = Math.min(largestError, Math.max(-largestError, kl / target - 1));
  return { ...control, coefficient: coefficient * (1 + (error * steps) / horizon) };
}

/** Takes a KL penalty off each token's reward and updates the controller with the batch's mean KL. */
export async function klInReward(
  batch: { scores: Rows; oldLogprobs: Rows; refLogprobs: Rows; mask: Rows },
  how: { kind: KlKind; control: KlControl },
): Promise<{
  rewards: Float64Array[];
  control: KlControl;
  metrics: Record<string, number>;
}> {
  const { kind, control } = how;
  const { scores, oldLogprobs, refLogprobs, mask } = batch;
  const width = Math.max(0, ...scores.map(({ length }) => length));
  const matrix = (rows: Rows) =>
    tf.tensor2d(
      rows.map((row) => Array.from({ length: width }, (_, t) => row[t] ?? 0)),
      [rows.length, width],
    );
  const penalty = tf.tidy(() => {
    const own = matrix(mask);
    const here = (rows: Rows) => withoutMasked(matrix(rows), own);
    return klPenalty(here(oldLogprobs), here(refLogprobs), kind).mul(own);
  });
  const padded = (await penalty.array()) as number[][];
  penalty.dispose();
  const kl = scores.map(({ length }, i) => padded[i]!.slice(0, length));
  const rewards = scores.map((row, i) =>
    Float64Array.from(row, (score, t) => score - control.coefficient * kl[i]![t]!),
  );
  const perRow = kl.map((row, i) => maskedMean([row], [mask[i]!]));
  const current = mean(perRow);
  return {
    rewards,
    control: controlKl(control, { kl: current, steps: scores.length }),
    metrics: {
      "actor/reward_kl_penalty": current,
      "actor/reward_kl_penalty_coeff": control.coefficient,
    },
  };
}
