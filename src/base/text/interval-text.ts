/** Rounds to the place of the second digit of a half-width: more digits say nothing. */
function rounded(half: number): (x: number) => string {
  if (!(half > 0) || half === Infinity) return (x) => String(Number(x.toPrecision(3)));
  const places = 1 - Math.floor(Math.log10(Number(half.toPrecision(2))));
  const unit = 10 ** -places;
  return (x) =>
    places >= 0 ? x.toFixed(Math.min(places, 20)) : String(Math.round(x / unit) * unit);
}

/** An estimate and half of its interval, with the digits that the interval supports: `0.38 ± 0.20`. */
export function plusMinus(value: number, half: number): string {
  const say = rounded(half);
  return Number.isFinite(half) ? `${say(value)} ± ${say(half)}` : say(value);
}

/** An estimate and the ends of its interval, each with the digits that the interval supports. */
export function withEnds(
  value: number,
  low: number,
  high: number,
): { value: string; low: string; high: string } {
  const say = rounded((high - low) / 2);
  return { value: say(value), low: say(low), high: say(high) };
}
