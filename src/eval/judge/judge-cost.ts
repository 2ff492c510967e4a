/** What tokens cost, in any currency, per million. */
export interface TokenPrice {
  prompt: number;
  completion: number;
}

/** What judging took so far. */
export interface JudgeCost {
  /** Questions put to `judge`. */
  questions: number;
  /** Answered without the endpoint: the same expression in another notation. */
  equivalent: number;
  /** Answered from the cache, or by the same question of the same call. */
  cached: number;
  /** Requests sent, repeated ones included. */
  requests: number;
  promptTokens: number;
  completionTokens: number;
  /** Answers that did not say how many tokens they took: the counts are then too low. */
  withoutUsage: number;
  /** By the price table; absent when the model is not in it. */
  price?: number;
}
