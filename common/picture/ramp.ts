/** plotly's usual colours of a heat map. */
export const viridis: [number, string][] = [
  "#440154",
  "#46327e",
  "#365c8d",
  "#277f8e",
  "#1fa187",
  "#4ac16d",
  "#a0da39",
  "#fde725",
].map((colour, i) => [i / 7, colour]);

/** Steps between the ends of a ramp: one path per colour keeps a picture small. */
export const rampSteps = 24;

const channels = (colour: string) => [1, 3, 5].map((i) => parseInt(colour.slice(i, i + 2), 16));

/** A plotly colour scale as a function of values between two ends; viridis where it cannot be read. */
export function colourRamp(
  scale: readonly unknown[],
  [low, high]: readonly [number, number],
): (value: number) => string {
  const known = scale.every(
    (stop): stop is [number, string] =>
      Array.isArray(stop) && typeof stop[0] === "number" && /^#[0-9a-f]{6}$/i.test(String(stop[1])),
  );
  const stops = known && scale.length > 1 ? (scale as [number, string][]) : viridis;
  const colours = Array.from({ length: rampSteps }, (_, i) => {
    const at = i / (rampSteps - 1);
    const next = Math.max(
      1,
      stops.findIndex(([place]) => place >= at - 1e-9),
    );
    const [[from, one], [to, two]] = [stops[next - 1]!, stops[next]!];
    const share = to > from ? (at - from) / (to - from) : 0;
    const mixed = channels(one).map((c, k) =>
      Math.round(c + (channels(two)[k]! - c) * Math.max(0, Math.min(1, share))),
    );
    return `#${mixed.map((c) => c.toString(16).padStart(2, "0")).join("")}`;
  });
  const size = high > low ? (rampSteps - 1) / (high - low) : 0;
  return (value) =>
    colours[
      size === 0
        ? rampSteps >> 1
        : Math.max(0, Math.min(rampSteps - 1, Math.round((value - low) * size)))
    ]!;
}
