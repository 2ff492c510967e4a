/** The last, the first, the one in the middle, and so on, so that any beginning covers the whole. */
export function spreadOut<T>(items: readonly T[]): T[] {
  const out: T[] = [];
  const taken = new Set<number>();
  const take = (i: number) => {
    if (i < 0 || taken.has(i)) return;
    taken.add(i);
    out.push(items[i]!);
  };
  take(items.length - 1);
  for (let parts = 1; out.length < items.length; parts *= 2) {
    for (let part = 0; part <= parts; part++) take(Math.round((part / parts) * (items.length - 1)));
  }
  return out;
}
