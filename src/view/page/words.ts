/** Numbers, counts and tokens as views write them. */

/** A number with so many digits that count, and a dash for none. */
export function numberText(x: number | undefined, digits: number): string {
  if (x === undefined || Number.isNaN(x)) return "–";
  // Sums of numbers around 1 that cancel leave their last bits.
  return Math.abs(x) < 1e-14 ? "0" : String(Number(x.toPrecision(digits))).replace(/^-/, "−");
}

/** Two digits after the point; a dash for none. */
export const two = (x: number | null | undefined): string =>
  x == null || Number.isNaN(x) ? "–" : (Math.round(x * 100) / 100).toFixed(2).replace(/^-/, "−");

/** One digit with its sign, as advantages are written; a dash for none. */
export function signed(x: number | null | undefined): string {
  if (x == null || Number.isNaN(x)) return "–";
  const sign = x >= 0.05 ? "+" : x <= -0.05 ? "−" : "";
  return sign + Math.abs(x).toFixed(Math.abs(x) >= 10 ? 0 : 1);
}

/** A count with its noun. */
export const many = (count: number, one: string, several = `${one}s`): string =>
  `${count.toLocaleString("en")} ${count === 1 ? one : several}`;

/** A share as a percentage, more exact where it is small. */
export function percent(share: number): string {
  const value = 100 * share;
  return `${value.toFixed(value < 10 ? 1 : 0)}%`;
}

/** A token with its line ends and outer spaces visible. */
export const visible = (text: string): string =>
  text.replace(/\n/g, "↵").replace(/^ /, "·").replace(/ $/, "·") || "∅";

/** As much of a text as `most` characters hold. */
export const cut = (text: string, most: number): string =>
  text.length > most ? `${text.slice(0, most - 1)}…` : text;

/** Whether an advantage makes its token less likely; what sums leave of their last bits does not. */
export const isLess = (value: number): boolean => value < -1e-9;
