/** How weights lie in a file. In memory they are always single precision. */
export const weightTypes = ["float32", "float16", "bfloat16"] as const;
export type WeightType = (typeof weightTypes)[number];

function bfloat16Bits(bits: number): number {
  if ((bits & 0x7fffffff) > 0x7f800000) return (bits >>> 16) | 0x40; // stays a NaN
  return (bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16;
}

/** A single-precision number, given as its bits, as the bits of the nearest float16. */
export function float16Bits(bits: number): number {
  const sign = (bits >>> 16) & 0x8000;
  const magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return sign | 0x7e00;
  if (magnitude >= 0x477ff000) return sign | 0x7c00; // 65,520 and above round to infinity
  if (magnitude >= 0x38800000) {
    return sign | ((magnitude - 0x38000000 + 0xfff + ((magnitude >>> 13) & 1)) >>> 13);
  }
  const exponent = magnitude >>> 23;
  if (exponent < 102) return sign; // below half of the smallest subnormal
  const mantissa = (magnitude & 0x7fffff) | 0x800000;
  const shift = 126 - exponent;
  const rest = mantissa & ((1 << shift) - 1);
  const half = 1 << (shift - 1);
  const kept = mantissa >>> shift;
  return sign | (kept + (rest > half || (rest === half && (kept & 1) === 1) ? 1 : 0));
}

let float16Values: Float32Array | undefined;

/** The value of every float16, by its bits. */
export function float16Table(): Float32Array {
  if (float16Values) return float16Values;
  float16Values = new Float32Array(0x10000);
  for (let bits = 0; bits < 0x10000; bits++) {
    const exponent = (bits >>> 10) & 0x1f;
    const mantissa = bits & 0x3ff;
    const magnitude =
      exponent === 0x1f
        ? mantissa === 0
          ? Infinity
          : NaN
        : exponent === 0
          ? mantissa * 2 ** -24
          : (1024 + mantissa) * 2 ** (exponent - 25);
    float16Values[bits] = bits & 0x8000 ? -magnitude : magnitude;
  }
  return float16Values;
}

/**
 * Rounds single-precision values to 16 bits, to the nearest and on a tie to the even one, and gives
 * their bits.
 */
export function packHalf(values: Float32Array, type: "float16" | "bfloat16"): Uint16Array {
  const bits = new Uint32Array(values.buffer, values.byteOffset, values.length);
  const out = new Uint16Array(values.length);
  if (type === "bfloat16") for (let i = 0; i < out.length; i++) out[i] = bfloat16Bits(bits[i]!);
  else for (let i = 0; i < out.length; i++) out[i] = float16Bits(bits[i]!);
  return out;
}

/** bfloat16 to the words of float32, two at a time where the places allow: half of the time. */
function widen(bits: Uint16Array, words: Uint32Array): void {
  const paired = bits.byteOffset % 4 === 0 ? bits.length >>> 1 : 0;
  const pairs = new Uint32Array(bits.buffer, paired > 0 ? bits.byteOffset : 0, paired);
  for (let i = 0; i < paired; i++) {
    const pair = pairs[i]!;
    words[2 * i] = pair << 16;
    words[2 * i + 1] = pair & 0xffff0000;
  }
  for (let i = 2 * paired; i < bits.length; i++) words[i] = bits[i]! << 16;
}

/** The values of 16-bit floats, exactly, written to `out`. */
export function unpackHalf(
  bits: Uint16Array,
  type: "float16" | "bfloat16",
  out: Float32Array,
): void {
  if (type === "bfloat16") {
    widen(bits, new Uint32Array(out.buffer, out.byteOffset, out.length));
  } else {
    const table = float16Table();
    for (let i = 0; i < bits.length; i++) out[i] = table[bits[i]!]!;
  }
}
