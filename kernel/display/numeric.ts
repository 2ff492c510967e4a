/** What a person wants to know of many numbers before looking at any. */
interface NumericSummary {
  size: number;
  min: number;
  max: number;
  mean: number;
  std: number;
  nan: number;
  infinite: number;
}

/** Any of JavaScript's typed arrays, or an array of numbers. */
export type Numbers = ArrayLike<number> | ArrayLike<bigint>;

/** So many numbers are looked at, of more than so many evenly spread ones. */
const LOOKED_AT = 1_000_000;

/** How far apart the numbers are that are looked at; odd, so that no period of two is missed. */
export const strideOf = (length: number): number =>
  length <= LOOKED_AT ? 1 : Math.ceil(length / LOOKED_AT) | 1;

/** Statistics over the finite numbers; NaN and infinities are counted apart. Of very many, over a sample. */
export function numericSummary(values: Numbers): NumericSummary {
  const stride = strideOf(values.length);
  let [min, max, mean, squares] = [Infinity, -Infinity, 0, 0];
  let [count, nan, infinite] = [0, 0, 0];
  for (let i = 0; i < values.length; i += stride) {
    const x = Number(values[i]);
    if (Number.isNaN(x)) nan++;
    else if (!Number.isFinite(x)) infinite++;
    else {
      // Welford's update: no cancellation however far the mean is from zero.
      count++;
      const delta = x - mean;
      mean += delta / count;
      squares += delta * (x - mean);
      if (x < min) min = x;
      if (x > max) max = x;
    }
  }
  const none = count === 0;
  return {
    size: values.length,
    min: none ? NaN : min,
    max: none ? NaN : max,
    mean: none ? NaN : mean,
    std: none ? NaN : Math.sqrt(squares / count),
    nan,
    infinite,
  };
}
