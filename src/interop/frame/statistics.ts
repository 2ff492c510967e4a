// The five functions of mathjs that danfojs calls, for the pack (tools/vendor/frame.mjs): mathjs takes 0.5 MB and a
// good part of a second to load, and fails on missing values, which danfojs promises to leave out.

type Value = number | string | boolean | null | undefined;

/** Numbers among values; what is missing is left out. */
function numbers(values: readonly Value[]): number[] {
  return values
    .filter((value) => value !== null && value !== undefined && value !== "")
    .map(Number)
    .filter((value) => !Number.isNaN(value));
}

/** Their mean; NaN of nothing. */
export function mean(values: readonly Value[]): number {
  const all = numbers(values);
  return all.reduce((sum, value) => sum + value, 0) / all.length;
}

/** The middle value, or the mean of the two in the middle; NaN of nothing. */
export function median(values: readonly Value[]): number {
  const all = numbers(values).sort((a, b) => a - b);
  const half = all.length / 2;
  return (all[Math.ceil(half) - 1]! + all[Math.floor(half)]!) / 2;
}

/** Every value that comes most often, in the order in which they first come. */
export function mode<T>(values: readonly T[]): T[] {
  const counts = new Map<T, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  const most = Math.max(...counts.values());
  return [...counts].filter(([, count]) => count === most).map(([value]) => value);
}

/** The sample's variance, by n - 1; 0 of one value, NaN of none. */
export function variance(values: readonly Value[]): number {
  const all = numbers(values);
  const middle = mean(all);
  if (all.length < 2) return all.length === 1 ? 0 : NaN;
  return all.reduce((sum, value) => sum + (value - middle) ** 2, 0) / (all.length - 1);
}

/** The sample's standard deviation. */
export function std(values: readonly Value[]): number {
  return Math.sqrt(variance(values));
}
