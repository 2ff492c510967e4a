import { fromWords, highWord } from "./words.js";

const [s1, s2, s3, s4, s5, s6] = [
  -1.66666666666666324348e-1, 8.33333333332248946124e-3, -1.98412698298579493134e-4,
  2.75573137070700676789e-6, -2.50507602534068634195e-8, 1.58969099521155010221e-10,
] as const;
const [c1, c2, c3, c4, c5, c6] = [
  4.16666666666666019037e-2, -1.38888888888741095749e-3, 2.48015872894767294178e-5,
  -2.75573143513906633035e-7, 2.0875723212981748279e-9, -1.13596475577881948265e-11,
] as const;

// A quarter turn in pieces: each is exact when it is taken so often, and what is left of it.
const [q1, q1Tail] = [1.57079632673412561417, 6.07710050650619224932e-11];
const [q2, q2Tail] = [6.0771005063039659766e-11, 2.02226624879595063154e-21];
const [q3, q3Tail] = [2.0222662487111664558e-21, 8.47842766036889956997e-32];

const largest = 1.6e6;
// About 0.3, 0.78 and an eighth of a turn, as fdlibm has them: by their upper words.
const third = fromWords(0x3fd33333, 0);
const most = fromWords(0x3fe90001, 0);
const eighth = fromWords(0x3fe921fc, 0);

/** sin of x + y, both small, y much smaller. */
function smallSin(x: number, y: number): number {
  if (Math.abs(x) < 2 ** -27) return x;
  const z = x * x;
  const v = z * x;
  const r = s2 + z * (s3 + z * (s4 + z * (s5 + z * s6)));
  return y === 0 ? x + v * (s1 + z * r) : x - (z * (0.5 * y - v * r) - y - v * s1);
}

function smallCos(x: number, y: number): number {
  const size = Math.abs(x);
  if (size < 2 ** -27) return 1;
  const z = x * x;
  const r = z * (c1 + z * (c2 + z * (c3 + z * (c4 + z * (c5 + z * c6)))));
  if (size < third) return 1 - (0.5 * z - (z * r - x * y));
  const q = size >= most ? 0.28125 : fromWords(highWord(size) - 0x00200000, 0);
  return 1 - q - (0.5 * z - q - (z * r - x * y));
}

// What `reduced` leaves of its angle, as the sum of two numbers: a list made for each would cost more.
let rest = 0;
let tail = 0;

/** How many quarter turns are in x. */
function reduced(x: number): number {
  const size = Math.abs(x);
  if (size < eighth) {
    rest = x;
    tail = 0;
    return 0;
  }
  const turns = Math.trunc(size * 6.36619772367581382433e-1 + 0.5);
  const bits = highWord(size) >> 20;
  let whole = size - turns * q1;
  let gone = turns * q1Tail;
  rest = whole - gone;
  // Where much has cancelled out, the next pieces of a quarter turn matter.
  if (bits - ((highWord(rest) >> 20) & 0x7ff) > 16) {
    let before = whole;
    whole = before - turns * q2;
    gone = turns * q2Tail - (before - whole - turns * q2);
    rest = whole - gone;
    if (bits - ((highWord(rest) >> 20) & 0x7ff) > 49) {
      before = whole;
      whole = before - turns * q3;
      gone = turns * q3Tail - (before - whole - turns * q3);
      rest = whole - gone;
    }
  }
  tail = whole - rest - gone;
  if (x >= 0) return turns;
  rest = -rest;
  tail = -tail;
  return -turns;
}

/**
 * The sine, the same to the last bit in every engine: `Math.sin` differs between versions of V8. After
 * fdlibm (Sun Microsystems 1993, freely usable with this notice). Above 1.6 million, where no model has
 * a position, it is the engine's own.
 */
export function sin(x: number): number {
  if (!(Math.abs(x) < largest)) return Math.sin(x);
  const turns = reduced(x);
  const value = turns & 1 ? smallCos(rest, tail) : smallSin(rest, tail);
  return turns & 2 ? -value : value;
}

/** The cosine, as {@link sin}. */
export function cos(x: number): number {
  if (!(Math.abs(x) < largest)) return Math.cos(x);
  const turns = reduced(x);
  const value = turns & 1 ? smallSin(rest, tail) : smallCos(rest, tail);
  return (turns + 1) & 2 ? -value : value;
}
