/** What a factor of APPO's loss may be at most where no clip is set. */
export const largestFutureFactor = 10;
/** Its bounds where a token with a negative advantage has become much likelier. */
export const safeFactor = { low: 0.8, high: 1 } as const;
