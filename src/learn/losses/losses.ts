import { type ActorLossOptions, lossRules, policyLossRules } from "./loss-rules.js";
import { checkArguments } from "../../../common/options/check-arguments.js";
import { checkOptions } from "../../../common/options/check-options.js";
import { completed, type Given, rulesOf } from "../../../common/options/option-table.js";
import { evenMaximum, evenMinimum } from "../../tensor/extremum.js";
import {
  type AggregateOptions,
  aggregateLoss,
  maskedTensorMean,
  type Tensor,
} from "./base/aggregate.js";
import { klPenalty } from "./base/kl.js";
import { unmaskedAdvantages } from "./base/off-policy-mask.js";
import { arithmeticTable, valueTable } from "./base/options.js";
import { type LossDefinition, settingsOf } from "./base/definition.js";
import {
  aggregationOf,
  type LossName,
  lossNames,
  lossOf,
  type PolicyLossOptions,
} from "./registry.js";
import {
  clearMasked,
  type PolicyLoss,
  type PolicyLossInput,
  tensorOps,
} from "./base/tensor-ops.js";

/** A loss by name. */
export type NamedLoss = (input: PolicyLossInput, options?: PolicyLossOptions) => PolicyLoss;

/** How this loss's terms are aggregated. */
const aggregateOptions = (
  { referenceNaN }: Pick<PolicyLossOptions, "referenceNaN">,
  paddedLength: number | undefined,
  { rowScales }: Pick<PolicyLossInput, "rowScales"> = {},
): AggregateOptions => ({ emptyRow: referenceNaN ? "nan" : "zero", paddedLength, rowScales });

const inputKinds = {
  logprobs: "tensor",
  oldLogprobs: "tensor",
  advantages: "tensor",
  mask: "tensor",
} as const;

const namedLoss =
  (loss: LossName): NamedLoss =>
  (input, options = {}) => {
    checkArguments("compute a loss", { input }, { input: inputKinds });
    checkOptions("compute a loss", options, policyLossRules());
    return policyLoss(lossOf({ loss }), clearMasked(input, options), options, options.paddedLength);
  };

/** A loss of an input that has nothing where it is masked. */
function policyLoss(
  loss: LossDefinition,
  given: PolicyLossInput,
  options: PolicyLossOptions,
  paddedLength: number | undefined,
): PolicyLoss {
  const { aggregation, aggregationRule } = options;
  const { mode, rule } = aggregationOf({ loss, aggregation, aggregationRule });
  const { rolloutWeights } = given;
  const { offPolicyMask: threshold } = options;
  const input =
    threshold === undefined
      ? given
      : { ...given, advantages: unmaskedAdvantages(given, threshold, tensorOps) };
  return loss.tensors(input, settingsOf(loss, options), {
    ...tensorOps,
    total: (losses, { mask = input.mask, unweighed = false, ruleOf } = {}) =>
      aggregateLoss(
        rolloutWeights && !unweighed ? losses.mul(rolloutWeights) : losses,
        mask,
        mode,
        {
          ...aggregateOptions(options, paddedLength, input),
          rule: ruleOf?.(mode) ?? rule,
        },
      ),
  });
}

/**
 * Every loss by name: a differentiable scalar and its figures, from log-probabilities, advantages and a
 * mask. `update` and the configuration choose among these (`loss`, `policy_loss.loss_mode`).
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { losses } from "arpo-lab/learn";
 * import { tf } from "arpo-lab/model";
 *
 * const row = (x: number) => tf.fill([1, 1], x);
 * const input = { oldLogprobs: row(-2), advantages: row(1), mask: row(1) };
 * const slope = (name: "vanilla" | "ce_gppo" | "gpg") =>
 *   tf.grad((logprobs) => losses[name]({ ...input, logprobs }).loss)(row(-1)).dataSync()[0] + 0;
 * assert.equal(slope("vanilla"), 0); // ratio e is above 1.2: PPO drops the token,
 * assert.ok(Math.abs(slope("ce_gppo") + 1.2) < 1e-6); // this one weighs it by the bound,
 * assert.equal(slope("gpg"), -1); // GPG looks at no ratio
 * ```
 */
export const losses = Object.fromEntries(
  lossNames.map((name) => [name, namedLoss(name)]),
) as Readonly<Record<LossName, NamedLoss>>;

export interface ActorLossInput extends PolicyLossInput {
  /** With a gradient when the entropy bonus is on. */
  entropies?: Tensor;
  /** Under the reference policy; needed when `klLossCoefficient` is set. */
  refLogprobs?: Tensor;
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
  checkArguments("compute a loss", { input }, { input: inputKinds });
  checkOptions("compute a loss", options, lossRules(options));
  return actorLossOf(input, options, options.paddedLength, lossOf(options));
}

/** `actorLoss` of options that have been checked, with the padded length and the loss beside them. */
export function actorLossOf(
  given: ActorLossInput,
  options: ActorLossOptions,
  paddedLength: number | undefined,
  loss: LossDefinition,
): ActorLoss {
  const input = clearMasked(given, options);
  const { mask, entropies, refLogprobs, logprobs } = input;
  const { entropyCoefficient = 0, klLossCoefficient, aggregation, aggregationRule } = options;
  const { mode, rule } = aggregationOf({ loss, aggregation, aggregationRule });
  const how = { ...aggregateOptions(options, paddedLength, input), rule };
  const base = policyLoss(loss, input, options, paddedLength);
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
    const estimate = klPenalty(logprobs, refLogprobs, options.klLossKind ?? "low_var_kl");
    const kl = options.klLossRatio
      ? estimate.mul<Tensor>(tensorOps.boundedLogRatio(input).exp())
      : estimate;
    out.kl = aggregateLoss(kl, mask, mode, how);
    out.loss = out.loss.add(out.kl.mul(klLossCoefficient));
  }
  return out;
}

interface ValueLossOptions extends Given<typeof valueTable>, Given<typeof arithmeticTable> {}

const valueLossTable = { ...valueTable, ...arithmeticTable };

/**
 * The critic's loss: the larger of the squared errors of the prediction and of the prediction clipped
 * to the old value plus or minus `clipRange`. No factor one half.
 */
export function valueLoss(
  input: { predictions: Tensor; values: Tensor; returns: Tensor; mask: Tensor },
  options: ValueLossOptions = {},
): { loss: Tensor; metrics: { vf_clipfrac: Tensor } } {
  checkOptions("compute a loss", options, rulesOf(valueLossTable));
  const { clipRange, aggregation } = completed(valueTable, options, {});
  const { predictions, values, returns, mask } = clearMasked(input, options);
  const near = evenMaximum(evenMinimum(predictions, values.add(clipRange)), values.sub(clipRange));
  const unclipped: Tensor = predictions.sub(returns).square();
  const clipped: Tensor = near.sub(returns).square();
  return {
    loss: aggregateLoss(
      evenMaximum(unclipped, clipped),
      mask,
      aggregation,
      aggregateOptions(options, options.paddedLength),
    ),
    metrics: {
      vf_clipfrac: maskedTensorMean(clipped.greater(unclipped).cast("float32"), mask),
    },
  };
}
