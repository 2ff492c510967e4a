/** What decides where an objective clips. */
export interface ClipOptions {
  /** How far the ratio may move from 1 on either side. Default: 0.2. */
  clipRatio?: number;
  /** How far below 1 the ratio may fall. Default: `clipRatio`. */
  clipRatioLow?: number;
  /** How far above 1 the ratio may rise (clip-higher). Default: `clipRatio`. */
  clipRatioHigh?: number;
  /** Dual clip: bounds the loss of tokens with a negative advantage and a large ratio. Default: 3. */
  clipRatioC?: number;
}

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
  const { clipRatio = 0.2, clipRatioC: c = 3 } = options;
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

/** What single losses can be told; each of them leaves the others' alone. Unset: `lossDefaults`. */
export interface LossParameters {
  /**
   * SAPO: how steeply a token fades with its ratio, where its advantage is positive. Default: 1.
   */
  tauPositive?: number;
  /**
   * SAPO: how steeply a token fades with its ratio, where its advantage is not positive. Default:
   * 1.05.
   */
  tauNegative?: number;
  /** Clip-Cov: the share of the tokens that lose their gradient. Default: 0.0002. */
  clipCovRatio?: number;
  /** Clip-Cov: tokens with a covariance above this may be drawn. Default: 1. */
  clipCovLow?: number;
  /** Clip-Cov: tokens with a covariance below this may be drawn. Default: 5. */
  clipCovHigh?: number;
  /**
   * KL-Cov: the share of the tokens, by greatest covariance, that are held back. Default: 0.0002.
   */
  klCovRatio?: number;
  /** KL-Cov: the weight of what holds them back. Default: 0.1. */
  klCovCoefficient?: number;
  /** DRO: the weight of the squared log ratio; it has no default. */
  droBeta?: number;
  /** CE-GPPO: how much gradient a token below the lower bound keeps (`beta1`). Default: 0.25. */
  gppoLow?: number;
  /** CE-GPPO: how much one above the upper bound keeps (`beta2`). Default: 1. */
  gppoHigh?: number;
  /** Future-KL: tokens until a later log ratio counts half. Default: 128. */
  futureDecay?: number;
  /** Future-KL: how far a token's factor may be from 1; 0: only bounded by 10. Default: 0.2. */
  futureClip?: number;
  /** Future-KL: factors below 1 are 1. Default: false. */
  futureHighOnly?: boolean;
  /** Future-KL: the weight of the factor beside the advantage itself. Default: 1. */
  futureWeight?: number;
  /** Future-KL: beyond this ratio a negative advantage gets a factor of 0.8 to 1. Default: 4. */
  futureSafety?: number;
}

/** The published functions' and files' defaults; DRO's weight has none. */
export const lossDefaults: Readonly<Required<Omit<LossParameters, "droBeta">>> = {
  tauPositive: 1,
  tauNegative: 1.05,
  clipCovRatio: 0.0002,
  clipCovLow: 1,
  clipCovHigh: 5,
  klCovRatio: 0.0002,
  klCovCoefficient: 0.1,
  gppoLow: 0.25,
  gppoHigh: 1,
  futureDecay: 128,
  futureClip: 0.2,
  futureHighOnly: false,
  futureWeight: 1,
  futureSafety: 4,
};

/** The parameters as given, and the defaults of those that are not. */
export function lossParameters(given: LossParameters): typeof lossDefaults {
  const said = Object.entries(given).filter(
    ([name, value]) => name in lossDefaults && value !== undefined,
  );
  return { ...lossDefaults, ...(Object.fromEntries(said) as Partial<typeof lossDefaults>) };
}

/** How a matrix of token losses becomes one number. */
export const lossAggregations = [
  "token-mean",
  "token-sum",
  "seq-mean-token-sum",
  "seq-mean-token-mean",
  "seq-mean-token-sum-norm",
] as const;
export type LossAggregation = (typeof lossAggregations)[number];

/**
 * Whose arithmetic an aggregation follows. `older` adds 1e-8 to the number of tokens, counts sequences without
 * a token as 0 in means over sequences, and divides `seq-mean-token-sum-norm` by the length alone; from verl
 * 0.9.1 on a token mean is divided by the tokens, sequences without one are left out, and
 * `seq-mean-token-sum-norm` is divided by the sequences too.
 */
export const aggregationRules = ["older", "verl-0.9.1"] as const;
export type AggregationRule = (typeof aggregationRules)[number];
