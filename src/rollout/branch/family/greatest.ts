/**
 * The places of the `count` greatest values, greatest first, equal ones in their order. Of a long list few
 * are wanted, so it is gone through once and not sorted.
 */
export function greatest(values: ArrayLike<number>, count: number): number[] {
  const best: number[] = [];
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!;
    if (Number.isNaN(value)) continue;
    if (best.length >= count && !(value > values[best[best.length - 1]!]!)) continue;
    let at = best.length;
    while (at > 0 && value > values[best[at - 1]!]!) at--;
    best.splice(at, 0, i);
    if (best.length > count) best.pop();
  }
  return best;
}

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
