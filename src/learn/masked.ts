/** One list of numbers per row; rows of a batch are padded to one length. */
export type Rows = readonly ArrayLike<number>[];

/** Keeps a mean over nothing finite, as the reference does. */
const epsilon = 1e-8;

/**
 * Refuses numbers that are not finite where they count: on the ones of a mask, or everywhere without one.
 * A number where nothing counts may be anything.
 */
export function requireFinite(
  action: string,
  what: string,
  values: Rows,
  { mask, nameOf = (i) => `trajectory ${i}` }: { mask?: Rows; nameOf?: (row: number) => string },
): void {
  values.forEach((row, i) => {
    for (let t = 0; t < row.length; t++) {
      if (Number.isFinite(row[t]) || (mask && !mask[i]![t])) continue;
      throw new RangeError(
        `Cannot ${action}: ${what} must be finite, got ${row[t]} at token ${t} of ${nameOf(i)}`,
      );
    }
  });
}

function sums(values: Rows, mask: Rows): { total: number; count: number } {
  let total = 0;
  let count = 0;
  values.forEach((row, i) => {
    for (let t = 0; t < row.length; t++) {
      // Passed over, not multiplied: what stands there may be anything.
      if (!mask[i]![t]) continue;
      total += row[t]! * mask[i]![t]!;
      count += mask[i]![t]!;
    }
  });
  return { total, count };
}

/** Mean over the masked tokens, with 1e-8 added to their count. */
export function maskedMean(values: Rows, mask: Rows): number {
  const { total, count } = sums(values, mask);
  return total / (count + epsilon);
}

/** Unbiased variance over the masked tokens. Needs two of them. */
export function maskedVariance(values: Rows, mask: Rows): number {
  const mean = maskedMean(values, mask);
  const squares = values.map((row) => {
    const out = new Float64Array(row.length);
    for (let t = 0; t < out.length; t++) out[t] = (row[t]! - mean) ** 2;
    return out;
  });
  const { total, count } = sums(squares, mask);
  if (count < 2) {
    throw new RangeError(
      `Cannot take a variance: the mask must keep at least 2 tokens, got ${count}`,
    );
  }
  return (total / (count + epsilon)) * (count / (count - 1));
}

/**
 * Scales tokens to variance 1 and, unless told otherwise, mean 0 over the mask. Tokens outside the mask
 * are scaled too, as in the reference; they are masked again where they are used.
 */
export function whiten(values: Rows, mask: Rows, shiftMean = true): Float64Array[] {
  const mean = maskedMean(values, mask);
  const scale = 1 / Math.sqrt(maskedVariance(values, mask) + epsilon);
  const back = shiftMean ? 0 : mean;
  return values.map((row) => Float64Array.from(row, (v) => (v - mean) * scale + back));
}

/** The values with 0 where the mask has 0, whatever stands there. */
export function masked(values: Rows, mask: Rows): Float64Array[] {
  return values.map((row, i) =>
    Float64Array.from(row, (v, t) => (mask[i]![t] ? v * mask[i]![t]! : 0)),
  );
}
