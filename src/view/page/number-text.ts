/** A number with so many digits that count, and a dash for none. */
export function numberText(x: number | undefined, digits: number): string {
  if (x === undefined || Number.isNaN(x)) return "–";
  // Sums of numbers around 1 that cancel leave their last bits.
  return Math.abs(x) < 1e-14 ? "0" : String(Number(x.toPrecision(digits)));
}
