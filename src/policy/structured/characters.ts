import { EMPTY, type Expression, type Grammar, NONE } from "./grammar.js";

/** Code points from one to another. */
export type Range = readonly [from: number, to: number];

const LAST = 0x10ffff;

/** Ranges in order, without those that touch. */
export function united(ranges: readonly Range[]): Range[] {
  const sorted = [...ranges].sort(([a], [b]) => a - b);
  const all: [number, number][] = [];
  for (const [from, to] of sorted) {
    const last = all.at(-1);
    if (last && from <= last[1] + 1) last[1] = Math.max(last[1], to);
    else all.push([from, to]);
  }
  return all;
}

/** Every other code point. */
export function inverted(ranges: readonly Range[]): Range[] {
  const all: Range[] = [];
  let next = 0;
  for (const [from, to] of united(ranges)) {
    if (from > next) all.push([next, from - 1]);
    next = to + 1;
  }
  return next <= LAST ? [...all, [next, LAST]] : all;
}

const utf8 = (code: number) => new TextEncoder().encode(String.fromCodePoint(code));

/** Byte sequences of one length from one to another. */
function between(grammar: Grammar, from: Uint8Array, to: Uint8Array): Expression {
  if (from.length === 0) return EMPTY;
  const [a, b] = [from[0]!, to[0]!];
  const [restA, restB] = [from.subarray(1), to.subarray(1)];
  const lowest = new Uint8Array(restA.length).fill(0x80);
  const highest = new Uint8Array(restA.length).fill(0xbf);
  const begin = (x: number, y: number, low: Uint8Array, high: Uint8Array) =>
    x > y ? NONE : grammar.sequence(grammar.symbols([x, y]), between(grammar, low, high));
  if (a === b) return begin(a, a, restA, restB);
  return grammar.any(
    begin(a, a, restA, highest),
    begin(a + 1, b - 1, lowest, highest),
    begin(b, b, lowest, restB),
  );
}

/** The lengths of UTF-8, without the halves of surrogate pairs, which have none. */
const lengths: readonly Range[] = [
  [0, 0x7f],
  [0x80, 0x7ff],
  [0x800, 0xd7ff],
  [0xe000, 0xffff],
  [0x10000, LAST],
];

/** A code point of these as it stands inside a JSON string: each is written in one way. */
export function inString(grammar: Grammar, ranges: readonly Range[]): Expression {
  const all: Expression[] = [];
  for (const [from, to] of united(ranges)) {
    for (const [least, most] of lengths) {
      const [a, b] = [Math.max(from, least), Math.min(to, most)];
      if (a > b) continue;
      if (most > 0x7f) {
        all.push(between(grammar, utf8(a), utf8(b)));
        continue;
      }
      for (let code = a; code <= b; code++) {
        const written = escaped(String.fromCharCode(code));
        all.push(grammar.literal(written));
      }
    }
  }
  return grammar.any(...all);
}

/** A text as it stands inside a JSON string. */
export const escaped = (text: string): string => JSON.stringify(text).slice(1, -1);

/** Any code point. */
export const anyCharacter = (grammar: Grammar): Expression => inString(grammar, [[0, LAST]]);
