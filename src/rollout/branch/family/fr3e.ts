/**
 * FR3E's anchors in a rollout: the `most` tokens of greatest signal (published: of smallest
 * log-probability), in order; one if the rollout has no more tokens than that.
 */
export function fr3eAnchors(signal: ArrayLike<number>, most: number): number[] {
  const ranked = Array.from({ length: signal.length }, (_, i) => i).sort(
    (a, b) => signal[b]! - signal[a]!,
  );
  return ranked.slice(0, anchorCount(signal.length, most)).sort((a, b) => a - b);
}

/** Anchors of a rollout of so many tokens: one if there are no more than may be. */
export const anchorCount = (tokens: number, most: number): number => (tokens > most ? most : 1);
