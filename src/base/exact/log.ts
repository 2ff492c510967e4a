import { fromWords, highWord, lowWord } from "./words.js";

const ln2High = 6.9314718036912381649e-1;
const ln2Low = 1.90821492927058770002e-10;
const [g1, g2, g3, g4, g5, g6, g7] = [
  6.66666666666673513e-1, 3.999999999940941908e-1, 2.857142874366239149e-1, 2.222219843214978396e-1,
  1.818357216161805012e-1, 1.531383769920937332e-1, 1.479819860511658591e-1,
] as const;

/**
 * The natural logarithm, the same to the last bit in every engine: `Math.log` differs between versions of
 * V8. After fdlibm's e_log.c (Sun Microsystems 1993, freely usable with this notice), less than one unit in
 * the last place off.
 */
export function log(x: number): number {
  if (x === 0) return -Infinity;
  if (!(x > 0)) return NaN;
  if (x === Infinity) return x;
  let k = 0;
  if (x < 2.2250738585072014e-308) {
    k -= 54;
    x *= 18014398509481984;
  }
  let upper = highWord(x);
  k += (upper >> 20) - 1023;
  upper &= 0xfffff;
  const carry = (upper + 0x95f64) & 0x100000;
  k += carry >> 20;
  const f = fromWords(upper | (carry ^ 0x3ff00000), lowWord(x)) - 1;
  const [high, low] = [k * ln2High, k * ln2Low];
  if ((0xfffff & (2 + upper)) < 3) {
    if (f === 0) return k === 0 ? 0 : high + low;
    const rest = f * f * (0.5 - 0.33333333333333333 * f);
    return k === 0 ? f - rest : high - (rest - low - f);
  }
  const s = f / (2 + f);
  const z = s * s;
  const w = z * z;
  const odd = z * (g1 + w * (g3 + w * (g5 + w * g7)));
  const rest = odd + w * (g2 + w * (g4 + w * g6));
  if (((upper - 0x6147a) | (0x6b851 - upper)) > 0) {
    const half = 0.5 * f * f;
    if (k === 0) return f - (half - s * (half + rest));
    return high - (half - (s * (half + rest) + low) - f);
  }
  if (k === 0) return f - s * (f - rest);
  return high - (s * (f - rest) - low - f);
}
