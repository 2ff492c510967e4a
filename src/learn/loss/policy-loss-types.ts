import { defined } from "../../arguments/defined.js";
import type { AggregateOptions, Tensor } from "./aggregate.js";
import type { AggregationChoice } from "./aggregation-choice.js";
import type { ClipOptions } from "./clip-bounds.js";
import type { LossParameters } from "./loss-parameters.js";

/** What the policy loss is computed from; all are [rows, tokens]. */
export interface PolicyLossInput {
  /** ln p of each token under the policy being trained: the only input with a gradient. */
  logprobs: Tensor;
  /** The same under the policy that is being improved on, recomputed before the update. */
  oldLogprobs: Tensor;
  advantages: Tensor;
  /** 1 on tokens that the model wrote. */
  mask: Tensor;
  /** Detached entropies; needed by AEPO's entropy-aware advantage alone. */
  entropies?: Tensor;
  /** What a correction for another sampler multiplies the token losses by. */
  rolloutWeights?: Tensor;
  /**
   * The number of each token's turn, from 1; 0 in none. For the losses by turns; by default the runs of
   * ones in the mask.
   */
  turns?: readonly ArrayLike<number>[];
  /**
   * One draw per token of the mask at least, [tokens]: where a loss draws candidates (Clip-Cov), the
   * nth of them gets the nth draw and the greatest are taken. Default: those of `Random.from(0)`.
   */
  draws?: Tensor;
}

export interface PolicyLossOptions extends ClipOptions, LossParameters, AggregationChoice {
  /** AEPO: tokens above the upper bound keep the gradient (1 + high) instead of losing it. */
  entropyBalancedClipping?: boolean;
  /** AEPO: weigh advantages by how uncertain the token was. */
  entropyBalancedAdvantage?: boolean;
  /** Length that `seq-mean-token-sum-norm` divides by; unset: the matrix's own. */
  paddedLength?: number;
  /**
   * Give NaN where the reference does: an empty row, a single valid token; and the metrics it averages
   * over masked tokens too.
   */
  referenceNaN?: boolean;
}

/** A scalar with the reference's figures beside it. */
export interface PolicyLoss {
  loss: Tensor;
  /** Scalars; the caller disposes of them. */
  metrics: { pg_clipfrac: Tensor; ppo_kl: Tensor; pg_clipfrac_lower: Tensor } & Readonly<
    Record<string, Tensor>
  >;
  /** 1 on the tokens that a loss picked out of the batch, as Clip-Cov and KL-Cov do. */
  chosen?: Tensor;
}

/** A loss by name. */
export type NamedLoss = (input: PolicyLossInput, options?: PolicyLossOptions) => PolicyLoss;

/** How this loss's terms are aggregated. */
export function aggregateOptions(
  options: Pick<PolicyLossOptions, "paddedLength" | "referenceNaN">,
): AggregateOptions {
  const { paddedLength } = options;
  return {
    emptyRow: options.referenceNaN ? "nan" : "zero",
    ...defined({ paddedLength }),
  };
}
