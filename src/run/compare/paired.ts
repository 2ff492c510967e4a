import { Random } from "../../base/random/random.js";
import { quantile } from "../../base/statistics.js";

// Student's t and the normal distribution, by the incomplete beta function.

/** ln of the gamma function (Lanczos, 9 terms): 15 digits for what is above 0. */
function lnGamma(x: number): number {
  const coefficients = [
    676.5203681218851, -1259.1392167224028, 771.3234287776531, -176.6150291621406,
    12.507343278686905, -0.13857109526572012, 9.984369578019572e-6, 1.5056327351493116e-7,
  ];
  const t = x + 6.5;
  const series = coefficients.reduce((sum, c, i) => sum + c / (x + i), 0.9999999999998099);
  return 0.5 * Math.log(2 * Math.PI) + (x - 0.5) * Math.log(t) - t + Math.log(series);
}

/** The regularised incomplete beta function, by its continued fraction (Lentz). */
function incompleteBeta(x: number, a: number, b: number): number {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  // The fraction converges fast on this side; the other one follows by symmetry.
  if (x > (a + 1) / (a + b + 2)) return 1 - incompleteBeta(1 - x, b, a);
  const front = Math.exp(
    lnGamma(a + b) - lnGamma(a) - lnGamma(b) + a * Math.log(x) + b * Math.log1p(-x),
  );
  const tiny = 1e-300;
  const bounded = (value: number) => (Math.abs(value) < tiny ? tiny : value);
  let c = 1;
  let d = 1 / bounded(1 - ((a + b) * x) / (a + 1));
  let fraction = d;
  for (let m = 1; m < 1000; m++) {
    for (const term of [
      (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m)),
      (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1)),
    ]) {
      d = 1 / bounded(1 + term * d);
      c = bounded(1 + term / c);
      fraction *= c * d;
    }
    if (Math.abs(c * d - 1) < 1e-15) break;
  }
  return (front * fraction) / a;
}

/** The share of Student's t below a value. */
export function tBelow(t: number, freedom: number): number {
  if (Number.isNaN(t)) return NaN;
  if (!Number.isFinite(t)) return t > 0 ? 1 : 0;
  const tail = incompleteBeta(freedom / (freedom + t * t), freedom / 2, 0.5) / 2;
  return t > 0 ? 1 - tail : tail;
}

/** The value below which a share of Student's t lies. */
export function tQuantile(share: number, freedom: number): number {
  if (share < 0.5) return -tQuantile(1 - share, freedom);
  let [low, high] = [0, 1];
  while (tBelow(high, freedom) < share) high *= 2;
  for (let i = 0; i < 200 && high - low > 1e-14 * high; i++) {
    const middle = (low + high) / 2;
    if (tBelow(middle, freedom) < share) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/** What differences say, one per seed. */
export interface PairedStatistics {
  n: number;
  mean: number;
  /** Standard deviation; NaN for one difference. */
  deviation: number;
  /** Student's 95% interval of the mean. */
  low: number;
  high: number;
  /** The bootstrap's (percentiles, 10,000 draws of the seeds). */
  bootstrap: { low: number; high: number };
  /** Two-sided p of a mean of 0. */
  p: number;
}

const draws = 10_000;

let kept = { n: 0, places: new Uint16Array() };

/** The place of each draw among `n` values: the same for every list of as many, so that those of the last are kept. */
function drawnFrom(n: number): (draw: number) => number {
  const random = Random.from(1).split("bootstrap");
  if (n > 1000) return () => random.integer(n);
  if (kept.n !== n) {
    kept = { n, places: Uint16Array.from({ length: draws * n }, () => random.integer(n)) };
  }
  const { places } = kept;
  return (draw) => places[draw]!;
}

/** The percentile bootstrap's 95% interval of a mean; the same for the same values. */
function bootstrapMean(values: readonly number[]): { low: number; high: number } {
  const n = values.length;
  const drawn = drawnFrom(n);
  const means = Float64Array.from({ length: draws }, (_, draw) => {
    let sum = 0;
    for (let i = 0; i < n; i++) sum += values[drawn(draw * n + i)]!;
    return sum / n;
  }).sort();
  return { low: quantile(means, 0.025), high: quantile(means, 0.975) };
}

/** A mean over its standard error, where all differences may be the same. */
const ratio = (mean: number, error: number): number =>
  error > 0 ? mean / error : mean === 0 ? 0 : Math.sign(mean) * Infinity;

/** The statistics of paired differences. */
export function pairedStatistics(differences: readonly number[]): PairedStatistics {
  const n = differences.length;
  const mean = differences.reduce((sum, d) => sum + d, 0) / n;
  if (n < 2) {
    const unknown = { low: NaN, high: NaN };
    return { n, mean, deviation: NaN, ...unknown, bootstrap: unknown, p: NaN };
  }
  const deviation = Math.sqrt(differences.reduce((sum, d) => sum + (d - mean) ** 2, 0) / (n - 1));
  const error = deviation / Math.sqrt(n);
  const half = tQuantile(0.975, n - 1) * error;
  return {
    ...{ n, mean, deviation, low: mean - half, high: mean + half },
    bootstrap: bootstrapMean(differences),
    p: 2 * tBelow(-Math.abs(ratio(mean, error)), n - 1),
  };
}

/** The p of two one-sided tests: small where the mean lies within the margin on both sides of 0. */
export function equivalence({ n, mean, deviation }: PairedStatistics, margin: number): number {
  if (n < 2) return NaN;
  const error = deviation / Math.sqrt(n);
  const above = 1 - tBelow(ratio(mean + margin, error), n - 1);
  const below = tBelow(ratio(mean - margin, error), n - 1);
  return Math.max(above, below);
}

/** Holm's correction: p values of several tests that are made together. */
export function holm(values: readonly number[]): number[] {
  const order = [...values.keys()].sort((a, b) => values[a]! - values[b]!);
  const out = Array<number>(values.length).fill(NaN);
  const known = order.filter((i) => !Number.isNaN(values[i]));
  let highest = 0;
  known.forEach((i, rank) => {
    highest = Math.max(highest, Math.min(1, (known.length - rank) * values[i]!));
    out[i] = highest;
  });
  return out;
}

/** Paired seeds that find a difference (two-sided 5%) with this power. */
export function seedsFor(deviation: number, difference: number, power: number): number {
  if (Number.isNaN(deviation)) return NaN;
  // The quantiles depend on the number itself: from few to as many as it takes.
  for (let n = 2; ; n = Math.ceil(n * 1.02)) {
    const reach = (tQuantile(0.975, n - 1) + tQuantile(power, n - 1)) * deviation;
    if (n >= (reach / difference) ** 2 || n > 1e6) return n;
  }
}
