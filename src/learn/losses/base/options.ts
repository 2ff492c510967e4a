import {
  above,
  finite,
  notNegative,
  oneOf,
  positive,
  valuesOf,
} from "../../../../common/options/check-options.js";
import {
  type Following,
  following,
  type Given,
  key,
  type Named,
  option,
  rulesOf,
  unset,
} from "../../../../common/options/option-table.js";

// What every loss can be told. What a single loss can be told besides stands in its definition.

/** How a matrix of token losses becomes one number. */
export const lossAggregations = [
  "token-mean",
  "token-sum",
  "seq-mean-token-sum",
  "seq-mean-token-mean",
  "seq-mean-token-sum-norm",
  "prompt-mean",
] as const;
export type LossAggregation = (typeof lossAggregations)[number];

/** Those of a critic, whose trajectories are of no prompt. */
export const valueAggregations = lossAggregations.slice(0, 5) as Exclude<
  LossAggregation,
  "prompt-mean"
>[];

/**
 * Whose arithmetic an aggregation follows. `older` adds 1e-8 to the number of tokens, counts sequences without
 * a token as 0 in means over sequences, and divides `seq-mean-token-sum-norm` by the length alone; from verl
 * 0.9.1 on a token mean is divided by the tokens, sequences without one are left out, and
 * `seq-mean-token-sum-norm` is divided by the sequences too. `trl`, TRL's and SkyRL's, is the same with every
 * sequence counted, those without a token too.
 */
export const aggregationRules = ["older", "verl-0.9.1", "trl"] as const;
export type AggregationRule = (typeof aggregationRules)[number];

/** The estimates of KL(policy, reference) per token, by the names configurations use. */
export const klKinds = ["kl", "k1", "abs", "mse", "k2", "low_var_kl", "k3"] as const;
export type KlKind = (typeof klKinds)[number];

const flag = valuesOf<boolean>("boolean?");
const actor = "actor_rollout_ref.actor";
/** Where options of single losses stand. */
export const policyLoss = `${actor}.policy_loss` as const;

/** How far a ratio may move where nobody says. */
const usualClip = 0.2;

export const clipTable = {
  /** How far the ratio may move from 1 on either side. Default: 0.2. */
  clipRatio: option(
    notNegative,
    usualClip,
    key(`${actor}.clip_ratio`, "PPO's clip range, on both sides where the next two do not say", {
      most: 1,
    }),
  ),
  /** How far below 1 the ratio may fall. Default: `clipRatio`. */
  clipRatioLow: unset(
    notNegative,
    key(`${actor}.clip_ratio_low`, "Below 1; follows clip_ratio", { by: usualClip, most: 1 }),
  ),
  /** How far above 1 the ratio may rise (clip-higher). Default: `clipRatio`. */
  clipRatioHigh: unset(
    notNegative,
    key(`${actor}.clip_ratio_high`, "Above 1; follows clip_ratio", { by: usualClip }),
  ),
  /** Dual clip: bounds the loss of tokens with a negative advantage and a large ratio. Default: 3. */
  clipRatioC: following(
    above(1),
    key(`${actor}.clip_ratio_c`, "Dual clip's bound", { by: 3 }),
  ) satisfies Following<number, number, string>,
};

/** What decides where an objective clips. */
export interface ClipOptions extends Given<typeof clipTable>, Named {}

export const balanceTable = {
  /**
   * AEPO: tokens above the upper bound keep the gradient (1 + high) instead of losing it. Default:
   * false.
   */
  entropyBalancedClipping: option(
    flag,
    false,
    key(`${actor}.enable_entropy_balanced_clipping`, "AEPO: clipped tokens keep a gradient"),
  ),
  /** AEPO: weigh advantages by how uncertain the token was. Default: false. */
  entropyBalancedAdvantage: option(
    flag,
    false,
    key(`${actor}.enable_entropy_balanced_advantage`, "AEPO: weigh advantages by entropy"),
  ),
};

export const rowTable = {
  /**
   * Leave out of the policy loss what has a negative advantage in a trajectory that has become less likely than at its
   * sampler by more than this, a mean log ratio per token (DeepSeek-V3.2). Default: off.
   */
  offPolicyMask: unset(
    notNegative,
    key(
      "lab.off_policy_mask",
      "Leave out what has a negative advantage in trajectories whose mean log ratio to the sampler has fallen by more than this; none: off",
    ),
  ),
};

export const aggregationTable = {
  /** How token losses become one number. Default: the loss's own. */
  aggregation: following(
    oneOf(lossAggregations),
    key(`${actor}.loss_agg_mode`, "How token losses become one number", {
      by: "token-mean" as const,
    }),
  ),
  /** Whose arithmetic that follows: the older verl's, that of 0.9.1 or TRL's. Default: the loss's own. */
  aggregationRule: unset(
    oneOf(aggregationRules),
    key(
      "lab.loss_aggregation",
      "Whose arithmetic loss_agg_mode follows: older verl's, 0.9.1's, or TRL's and SkyRL's; none: the loss's own",
    ),
  ),
};

export const arithmeticTable = {
  /** Length in tokens that `seq-mean-token-sum-norm` divides by. Default: the matrix's own. */
  paddedLength: unset(
    positive,
    key(
      `${actor}.loss_scale_factor`,
      "Length that seq-mean-token-sum-norm divides by; none: the longest sequence's",
    ),
  ),
  /**
   * Give NaN where the reference does: an empty sequence, a single valid token; and the metrics it
   * averages over masked tokens too. Default: false.
   */
  referenceNaN: option(flag, false),
};

/** What a critic's loss can be told. */
export const valueTable = {
  /** How far a value may move from the old one. Default: 0.5. */
  clipRange: option(
    notNegative,
    0.5,
    key("critic.cliprange_value", "How far a value may move from the old one", { above: 0 }),
  ),
  /** How token losses become one number. Default: `token-mean`. */
  aggregation: option(
    oneOf(valueAggregations),
    "token-mean",
    key("critic.loss_agg_mode", "How token losses become one number"),
  ),
};

/** What stands beside a policy loss in what an actor minimises. */
export const termTable = {
  /** Weight of the entropy bonus. Default: 0, no bonus. */
  entropyCoefficient: option(
    finite,
    0,
    key(`${actor}.entropy_coeff`, "Weight of the entropy bonus"),
  ),
  /** Weight of the KL loss against `reference`. Default: none, no KL loss at all. */
  klLossCoefficient: following(
    finite,
    key(`${actor}.kl_loss_coef`, "Its weight", { by: 0.001, least: 0 }),
  ),
  /** How the KL divergence is estimated. Default: `low_var_kl` (k3). */
  klLossKind: option(oneOf(klKinds), "low_var_kl", key(`${actor}.kl_loss_type`, "Its estimate")),
  /**
   * Multiply the KL loss by the ratio to the policy before the update, as TRL does: without, its gradient is biased
   * once the policy has moved. Default: false.
   */
  klLossRatio: option(
    flag,
    false,
    key("lab.kl_loss_ratio", "Multiply the KL loss by the ratio to the policy before the update"),
  ),
};

/** What the arithmetic of every loss can be told. */
export interface LossSettings
  extends
    Given<typeof clipTable>,
    Given<typeof balanceTable>,
    Given<typeof rowTable>,
    Given<typeof arithmeticTable> {}

/** The checks of what stands in the tables, in the order in which errors list them. */
export const clipRules = rulesOf(clipTable);

/** Where ratios are clipped. */
interface ClipBounds {
  low: number;
  high: number;
  /** Beyond it the dual clip drops tokens with a negative advantage. */
  c: number;
}

/**
 * Where an objective clips its ratios: the one place that says so, for losses, reports, views and the
 * doctor alike.
 */
export function clipBounds(options: ClipOptions): ClipBounds {
  const { clipRatio = usualClip, clipRatioC: c = 3 } = options;
  const low = 1 - (options.clipRatioLow ?? clipRatio);
  const high = 1 + (options.clipRatioHigh ?? clipRatio);
  if (!(c > 1)) throw new RangeError(`Cannot clip: clipRatioC must be greater than 1, got ${c}`);
  if (!(low <= 1 && high >= 1)) {
    throw new RangeError(
      `Cannot clip: clip ratios must not be negative, got bounds ${low} to ${high}`,
    );
  }
  return { low, high, c };
}
