import { checkArguments } from "../../arguments/check-arguments.js";
import { type Tensor, aggregateLoss } from "./aggregate.js";
import { type KlKind, klPenalty } from "./kl.js";
import { aggregationOf } from "./aggregation-choice.js";
import { lossNameOf } from "./loss-names.js";
import { losses } from "./losses.js";
import {
  type PolicyLoss,
  type PolicyLossInput,
  type PolicyLossOptions,
  aggregateOptions,
} from "./policy-loss-types.js";

export interface ActorLossInput extends PolicyLossInput {
  /** With a gradient when the entropy bonus is on. */
  entropies?: Tensor;
  /** Under the reference policy; needed when `klLossCoefficient` is set. */
  refLogprobs?: Tensor;
}

export interface ActorLossOptions extends PolicyLossOptions {
  /** Weight of the entropy bonus. */
  entropyCoefficient?: number;
  /** Weight of the KL loss; unset means no KL loss at all. */
  klLossCoefficient?: number;
  klLossKind?: KlKind;
}

/** The total and its terms. */
export interface ActorLoss extends PolicyLoss {
  policy: Tensor;
  entropy?: Tensor;
  kl?: Tensor;
}

/**
 * What one actor update minimises: the policy loss that `loss` names, less `entropyCoefficient` times the
 * entropy, plus `klLossCoefficient` times the KL divergence from the reference policy. All three are
 * aggregated as the policy loss is.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { actorLoss } from "arpo-lab/experimental/learn";
 * import { tf } from "arpo-lab/model";
 *
 * const row = (x: number) => tf.fill([1, 1], x);
 * const { loss } = actorLoss(
 *   { logprobs: row(-1), oldLogprobs: row(-1), advantages: row(2), mask: row(1), entropies: row(3) },
 *   { entropyCoefficient: 0.1 },
 * );
 * assert.ok(Math.abs(loss.dataSync()[0] - (-2 - 0.3)) < 1e-6);
 * ```
 */
export function actorLoss(input: ActorLossInput, options: ActorLossOptions = {}): ActorLoss {
  checkArguments(
    "compute a loss",
    { input, options },
    {
      input: { logprobs: "tensor", oldLogprobs: "tensor", advantages: "tensor", mask: "tensor" },
      options: "object",
    },
  );
  const { mask, entropies, refLogprobs, logprobs } = input;
  const { entropyCoefficient = 0, klLossCoefficient } = options;
  const { mode, rule } = aggregationOf(options);
  const how = { ...aggregateOptions(options), rule };
  const base = losses[lossNameOf(options)](input, options);
  const out: ActorLoss = { ...base, policy: base.loss };
  if (entropyCoefficient !== 0) {
    if (!entropies) {
      throw new TypeError("Cannot add an entropy bonus: entropies must be given, got none");
    }
    out.entropy = aggregateLoss(entropies, mask, mode, how);
    out.loss = out.loss.sub(out.entropy.mul(entropyCoefficient));
  }
  if (klLossCoefficient !== undefined) {
    if (!refLogprobs) {
      throw new TypeError("Cannot add a KL loss: refLogprobs must be given, got none");
    }
    const kl = klPenalty(logprobs, refLogprobs, options.klLossKind ?? "low_var_kl");
    out.kl = aggregateLoss(kl, mask, mode, how);
    out.loss = out.loss.add(out.kl.mul(klLossCoefficient));
  }
  return out;
}
