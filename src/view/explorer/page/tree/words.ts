/** Numbers and tokens as the explorer writes them. */

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
