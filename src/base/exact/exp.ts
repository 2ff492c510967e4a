import { fromWords } from "./words.js";

const ln2High = 6.9314718036912381649e-1;
const ln2Low = 1.90821492927058770002e-10;
// 0.5 and 1.5 times ln 2, as fdlibm has them: by their upper words.
const halfLn2 = fromWords(0x3fd62e43, 0);
const oneAndHalfLn2 = fromWords(0x3ff0a2b2, 0);
const inverseLn2 = 1.442695040888963387;
const [p1, p2, p3, p4, p5] = [
  1.66666666666666019037e-1, -2.77777777770155933842e-3, 6.61375632143793436117e-5,
  -1.6533902205465251539e-6, 4.13813679705723846039e-8,
] as const;

/**
 * e to the power of x, the same to the last bit in every engine: `Math.exp` differs between versions of
 * V8. After fdlibm's e_exp.c (Sun Microsystems 1993, freely usable with this notice), less than one unit
 * in the last place off.
 */
export function exp(x: number): number {
  const size = Math.abs(x);
  if (!(size < 709)) {
    if (Number.isNaN(x)) return x;
    if (x > 7.09782712893383973096e2) return Infinity;
    if (x < -7.4513321910194110842e2) return 0;
  }
  let high = x;
  let low = 0;
  let k = 0;
  if (size >= halfLn2) {
    if (x === 1) return Math.E;
    const sign = x < 0 ? -1 : 1;
    k = size < oneAndHalfLn2 ? sign : Math.trunc(inverseLn2 * x + sign * 0.5);
    high = x - k * ln2High;
    low = k * ln2Low;
    x = high - low;
  } else if (size < 2 ** -28) return 1 + x;
  const t = x * x;
  const c = x - t * (p1 + t * (p2 + t * (p3 + t * (p4 + t * p5))));
  if (k === 0) return 1 - ((x * c) / (c - 2) - x);
  const y = 1 - (low - (x * c) / (2 - c) - high);
  if (k === 1024) return y * 2 * 8.98846567431158e307;
  if (k >= -1021) return y * fromWords(0x3ff00000 + (k << 20), 0);
  return y * fromWords(0x3ff00000 + ((k + 1000) << 20), 0) * 9.3326361850321887899e-302;
}
