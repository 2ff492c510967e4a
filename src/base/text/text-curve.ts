const bars = "▁▂▃▄▅▆▇█";

/** How a curve is drawn in a line of text. */
interface TextCurveOptions {
  /** The values of the lowest and of the highest bar. */
  low: number;
  high: number;
  /** Characters at most; several values that share one are their mean. */
  width: number;
}

/** A curve in a line of text: a bar for each value, on a scale that curves may share. */
export function textCurve(
  values: readonly number[],
  { low, high, width }: TextCurveOptions,
): string {
  const count = Math.min(width, values.length);
  return Array.from({ length: count }, (_, i) => {
    const from = Math.floor((i * values.length) / count);
    const to = Math.max(from + 1, Math.floor(((i + 1) * values.length) / count));
    const mean = values.slice(from, to).reduce((a, b) => a + b) / (to - from);
    const share = high > low ? (mean - low) / (high - low) : 0.5;
    return bars[Math.min(bars.length - 1, Math.floor(share * bars.length))]!;
  }).join("");
}
