import type { Tensor } from "./aggregate.js";
import type { FormulaLine } from "./formula.js";
import type { AggregationRule, ClipOptions, LossAggregation, LossParameters } from "./options.js";
import type { PolicyLoss, PolicyLossInput, TensorOps } from "./tensor-ops.js";
import type { TokenRule } from "./token-rule.js";

/** What there is to know of a loss without computing it. */
export interface LossFacts {
  title: string;
  /** How its token losses become one number where nobody says. */
  aggregation: LossAggregation;
  /** It has its own way and takes no other. */
  ownAggregation?: true;
  /** Whose arithmetic that is: see `aggregationRules`. */
  rule: AggregationRule;
  /** What its clip bounds are laid on; without one they change nothing. */
  clips?: "ratio" | "log ratio" | "divergence";
  /** Whose ratio it is where it is not the token's own. */
  ratioOf?: "row" | "turn";
  /** It reads clipRatioC. */
  readsC?: true;
  /** The parameters it reads. */
  parameters?: readonly (keyof LossParameters)[];
  /** verl 0.9.1 has it, under the same name. */
  verl?: true;
}

/** What a loss's arithmetic can be told. */
export interface LossSettings extends ClipOptions, LossParameters {
  /**
   * AEPO: tokens above the upper bound keep the gradient (1 + high) instead of losing it. Default:
   * false.
   */
  entropyBalancedClipping?: boolean;
  /** AEPO: weigh advantages by how uncertain the token was. Default: false. */
  entropyBalancedAdvantage?: boolean;
  /** Length in tokens that `seq-mean-token-sum-norm` divides by. Default: the matrix's own. */
  paddedLength?: number;
  /**
   * Give NaN where the reference does: an empty sequence, a single valid token; and the metrics it
   * averages over masked tokens too. Default: false.
   */
  referenceNaN?: boolean;
}

/** What a tensor form computes with. */
export interface LossOps extends TensorOps {
  /** Token losses under a rollout correction's weights, aggregated as the loss is. */
  total: (
    losses: Tensor,
    how?: { mask?: Tensor; ruleOf?: (mode: LossAggregation) => AggregationRule | undefined },
  ) => Tensor;
}

/** A loss: everything that the library knows of it. */
export interface LossDefinition extends LossFacts, TokenRule {
  /** A differentiable scalar and its figures. */
  tensors: (input: PolicyLossInput, options: LossSettings, ops: LossOps) => PolicyLoss;
  /** What the explainer shows between the advantage and the gradient. */
  formula: (settings: LossSettings) => FormulaLine[];
  gradient: {
    /** The lines that say what is left of a token's gradient. */
    code: readonly string[];
    /** The advantage in it is the loss's own. */
    ownAdvantage?: (settings: LossSettings) => boolean;
    /** The loss pulls back besides. */
    hold?: true;
  };
}
