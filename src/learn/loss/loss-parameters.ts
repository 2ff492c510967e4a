/** What single losses can be told; each of them leaves the others' alone. Unset: `lossDefaults`. */
export interface LossParameters {
  /** SAPO: how steeply a token fades with its ratio, where its advantage is positive. */
  tauPositive?: number;
  /** SAPO: the same where it is not. */
  tauNegative?: number;
  /** Clip-Cov: the share of the tokens that lose their gradient. */
  clipCovRatio?: number;
  /** Clip-Cov: the covariances among which these are drawn, both ends excluded. */
  clipCovLow?: number;
  clipCovHigh?: number;
  /** KL-Cov: the share of the tokens, by greatest covariance, that are held back. */
  klCovRatio?: number;
  /** KL-Cov: the weight of what holds them back. */
  klCovCoefficient?: number;
  /** DRO: the weight of the squared log ratio; it has no default. */
  droBeta?: number;
  /** CE-GPPO: how much gradient a token below the lower bound keeps (`beta1`). */
  gppoLow?: number;
  /** CE-GPPO: how much one above the upper bound keeps (`beta2`). */
  gppoHigh?: number;
  /** Future-KL: tokens until a later log ratio counts half. */
  futureDecay?: number;
  /** Future-KL: how far a token's factor may be from 1; 0: only bounded by 10. */
  futureClip?: number;
  /** Future-KL: factors below 1 are 1. */
  futureHighOnly?: boolean;
  /** Future-KL: the weight of the factor beside the advantage itself. */
  futureWeight?: number;
  /** Future-KL: beyond this ratio a negative advantage gets a factor of 0.8 to 1. */
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
