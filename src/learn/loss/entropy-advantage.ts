import { checkArguments } from "../../arguments/check-arguments.js";
import { detached } from "../../tensor/detached.js";
import { tf } from "../../tensor/tf.js";
import type { Tensor } from "./aggregate.js";

/** How much one deviation of entropy changes an advantage; a literal in the reference. */
const entropyWeight = 0.2;

/**
 * AEPO's entropy-aware advantage: A (1 + 0.2 z), with z the token's entropy standardised over the valid
 * tokens of the batch. Detached: it weighs the gradient and takes part in none.
 *
 * With fewer than two valid tokens there is no deviation and the factor is 1; the reference gives NaN,
 * which `singleToken: "nan"` reproduces.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { entropyAwareAdvantage } from "arpo-lab/experimental/learn";
 * import { detached, tf } from "arpo-lab/model";
 *
 * const mask = tf.ones([1, 2]);
 * const shaped = entropyAwareAdvantage(tf.ones([1, 2]), tf.tensor2d([[0, 2]]), mask).dataSync();
 * assert.ok(shaped[0] < 1 && shaped[1] > 1);
 * ```
 */
export function entropyAwareAdvantage(
  advantages: Tensor,
  entropies: Tensor,
  mask: Tensor,
  { singleToken = "one" }: { singleToken?: "one" | "nan" } = {},
): Tensor {
  checkArguments(
    "weigh advantages",
    { advantages, entropies, mask },
    { advantages: "tensor", entropies: "tensor", mask: "tensor" },
  );
  const fixed = detached(entropies);
  const atLeast = (least: number, x: Tensor) => (singleToken === "one" ? tf.maximum(x, least) : x);
  const count = mask.sum();
  // No valid token: a mean of 0, in the reference too, which then leaves the advantages alone.
  const centred = fixed.sub(fixed.mul(mask).sum().div(tf.maximum(count, 1)));
  const variance: Tensor = centred
    .square()
    .mul(mask)
    .sum()
    .div(atLeast(1, count.sub(1)));
  const deviation: Tensor = variance.sqrt();
  const width = tf.where(deviation.equal(0), tf.onesLike(deviation), deviation);
  return advantages.mul(centred.div(width).mul(entropyWeight).add(1));
}
