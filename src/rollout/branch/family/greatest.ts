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
