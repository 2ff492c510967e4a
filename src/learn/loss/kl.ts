import { checkArguments } from "../../arguments/check-arguments.js";
import type { Tensor } from "./aggregate.js";

/** The estimates of KL(policy, reference) per token, by the names configurations use. */
export const klKinds = ["kl", "k1", "abs", "mse", "k2", "low_var_kl", "k3"] as const;
export type KlKind = (typeof klKinds)[number];

/**
 * An estimate of the KL divergence from the reference policy at each token, with d = logp - ref:
 * `kl` or `k1` is d, `abs` is |d|, `mse` or `k2` is d²/2, `low_var_kl` or `k3` is exp(-d) + d - 1,
 * clamped to [-10, 10].
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { klPenalty } from "arpo-lab/experimental/learn";
 * import { tf } from "arpo-lab/model";
 *
 * assert.equal(klPenalty(tf.tensor1d([-1]), tf.tensor1d([-3]), "k2").dataSync()[0], 2);
 * ```
 */
export function klPenalty(logprobs: Tensor, reference: Tensor, kind: KlKind): Tensor {
  checkArguments(
    "measure KL",
    { logprobs, reference, kind },
    { logprobs: "tensor", reference: "tensor", kind: "text" },
  );
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
      return d.neg().exp<Tensor>().add<Tensor>(d).sub<Tensor>(1).clipByValue(-10, 10);
    default:
      throw new RangeError(
        `Cannot estimate a KL divergence: the kind must be one of ${klKinds.join(", ")}, got ${String(kind)}`,
      );
  }
}
