import { fromWords, highWord } from "./words.js";

const [s1, s2, s3, s4, s5, s6] = [
  -1.66666666666666324348e-1, 8.33333333332248946124e-3, -1.98412698298579493134e-4,
  2.75573137070700676789e-6, -2.50507602534068634195e-8, 1.58969099521155010221e-10,
] as const;
const [c1, c2, c3, c4, c5, c6] = [
  4.16666666666666019037e-2, -1.38888888888741095749e-3, 2.48015872894767294178e-5,
  -2.75573143513906633035e-7, 2.0875723212981748279e-9, -1.13596475577881948265e-11,
] as const;

/** A quarter turn in pieces: each is exact when it is taken so often. */
const quarter = [
  [1.57079632673412561417, 6.07710050650619224932e-11],
  [6.0771005063039659766e-11, 2.02226624879595063154e-21],
  [2.0222662487111664558e-21, 8.47842766036889956997e-32],
] as const;

const largest = 1.6e6;

/** sin of x + y, both small, y much smaller. */
function smallSin(x: number, y: number): number {
  if ((highWord(x) & 0x7fffffff) < 0x3e400000) return x;
  const z = x * x;
  const v = z * x;
  const r = s2 + z * (s3 + z * (s4 + z * (s5 + z * s6)));
  return y === 0 ? x + v * (s1 + z * r) : x - (z * (0.5 * y - v * r) - y - v * s1);
}

function smallCos(x: number, y: number): number {
  const size = highWord(x) & 0x7fffffff;
  if (size < 0x3e400000) return 1;
  const z = x * x;
  const r = z * (c1 + z * (c2 + z * (c3 + z * (c4 + z * (c5 + z * c6)))));
  if (size < 0x3fd33333) return 1 - (0.5 * z - (z * r - x * y));
  const q = size > 0x3fe90000 ? 0.28125 : fromWords(size - 0x00200000, 0);
  return 1 - q - (0.5 * z - q - (z * r - x * y));
}

/** How many quarter turns are in x, and what is left as the sum of two numbers. */
function reduced(x: number): [turns: number, rest: number, tail: number] {
  const size = highWord(x) & 0x7fffffff;
  if (size <= 0x3fe921fb) return [0, x, 0];
  const turns = Math.trunc(Math.abs(x) * 6.36619772367581382433e-1 + 0.5);
  let [whole, gone] = [Math.abs(x), 0];
  let rest = 0;
  for (const [step, [first, tail]] of quarter.entries()) {
    const before = whole;
    const taken = turns * first;
    whole = before - taken;
    gone = step === 0 ? turns * tail : turns * tail - (before - whole - taken);
    rest = whole - gone;
    const lost = (size >> 20) - ((highWord(rest) >> 20) & 0x7ff);
    if (lost <= (step === 0 ? 16 : 49)) break;
  }
  const tail = whole - rest - gone;
  return x < 0 ? [-turns, -rest, -tail] : [turns, rest, tail];
}

/**
 * The sine, the same to the last bit in every engine: `Math.sin` differs between versions of V8. After
 * fdlibm (Sun Microsystems 1993, freely usable with this notice). Above 1.6 million, where no model has
 * a position, it is the engine's own.
 */
export function sin(x: number): number {
  if (!(Math.abs(x) < largest)) return Math.sin(x);
  const [turns, rest, tail] = reduced(x);
  const value = turns & 1 ? smallCos(rest, tail) : smallSin(rest, tail);
  return turns & 2 ? -value : value;
}

/** The cosine, as {@link sin}. */
export function cos(x: number): number {
  if (!(Math.abs(x) < largest)) return Math.cos(x);
  const [turns, rest, tail] = reduced(x);
  const value = turns & 1 ? smallSin(rest, tail) : smallCos(rest, tail);
  return (turns + 1) & 2 ? -value : value;
}
