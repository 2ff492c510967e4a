/** A number with so many digits that count, and a dash for none. */
export function numberText(x: number | undefined, digits: number): string {
  return x === undefined || Number.isNaN(x) ? "–" : String(Number(x.toPrecision(digits)));
}
