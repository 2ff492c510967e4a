/** A number. */
export const mn = (x: string | number): string => `<mn>${x}</mn>`;
/** An identifier. */
export const mi = (name: string): string => `<mi>${name}</mi>`;
/** An operator. */
export const mo = (sign: string): string => `<mo>${sign}</mo>`;
/** Pieces side by side. */
export const row = (...pieces: string[]): string => `<mrow>${pieces.join("")}</mrow>`;
/** One over the other. */
export const frac = (over: string, under: string): string =>
  `<mfrac>${row(over)}${row(under)}</mfrac>`;
/** A function of some arguments. */
export const call = (name: string, ...given: string[]): string =>
  row(mi(name), mo("("), given.join(mo(",")), mo(")"));
/** Something with an index. */
export const sub = (base: string, index: string): string => `<msub>${base}${row(index)}</msub>`;

/** A symbol whose value the page writes under it. */
export function symbol(name: string, glyph: string): string {
  return `<munder data-symbol="${name}">${row(glyph)}<mtext data-value="${name}">–</mtext></munder>`;
}

/** One of two things, by a condition. */
export function cases(one: string, when: string, other: string): string {
  const line = (value: string, condition: string) =>
    `<mtr><mtd>${row(value)}</mtd><mtd>${row(condition)}</mtd></mtr>`;
  const table = line(one, when) + line(other, "<mtext>else</mtext>");
  return row(mo("{"), `<mtable columnalign="left">${table}</mtable>`);
}

/** A line of mathematics. */
export function math(...pieces: string[]): string {
  return `<math display="block">${pieces.join("")}</math>`;
}
