import type { Program } from "../programs.js";
import { declare, entry } from "./shader.js";

/**
 * How a matrix lies on the card: as it is, in halves, or as 8-bit integers with a scale for each row.
 * Halves and bytes lie 2 and 4 to a word, so no feature of the device is needed; sums are of float32.
 */
export type StoredType = "float32" | "float16" | "bfloat16" | "int8";

/** Numbers in a word of memory. */
export const perWord = { float32: 1, float16: 2, bfloat16: 2, int8: 4 } as const satisfies Record<
  StoredType,
  number
>;

/** A matrix of this type as `declare` takes it. */
export const storedAs = (name: string, type: StoredType): string =>
  type === "float32" ? name : `${name}:u32`;

/** The number at a place, widened. */
export function readStored(name: string, type: StoredType, at: string): string {
  if (type === "float32") return `${name}[${at}]`;
  const word = `${name}[(${at}) / ${perWord[type]}u]`;
  const place = `((${at}) % ${perWord[type]}u)`;
  if (type === "float16") return `unpack2x16float(${word})[${place}]`;
  if (type === "bfloat16") return `bitcast<f32>((${word} >> (16u * ${place})) << 16u)`;
  return `f32(extractBits(bitcast<i32>(${word}), 8u * ${place}, 8u))`;
}

/** A matrix of this type as `declare` takes it where it is read 8 numbers at a time. */
export const storedByEight = (name: string, type: StoredType): string =>
  `${name}:${type === "float32" ? "vec4f" : type === "int8" ? "vec2u" : "vec4u"}`;

/** Statements that read 8 numbers as b0 to b7; `at` counts eights. */
export function readEight(name: string, type: StoredType, at: string): string {
  const parts = ["x", "y", "z", "w"];
  if (type === "float32") {
    const values = Array.from(
      { length: 8 },
      (_, i) => `let b${i} = b${i < 4 ? "Low" : "High"}.${parts[i % 4]};`,
    );
    return `let bLow = ${name}[2u * (${at})]; let bHigh = ${name}[2u * (${at}) + 1u]; ${values.join(" ")}`;
  }
  const value = (i: number) => {
    const word = `word.${parts[Math.floor(i / perWord[type])]}`;
    const place = i % perWord[type];
    if (type === "float16") return `unpack2x16float(${word}).${parts[place]}`;
    if (type === "bfloat16")
      return `bitcast<f32>(${place === 0 ? `${word} << 16u` : `${word} & 0xffff0000u`})`;
    return `f32(extractBits(bitcast<i32>(${word}), ${8 * place}u, 8u))`;
  };
  const values = Array.from({ length: 8 }, (_, i) => `let b${i} = ${value(i)};`);
  return `let word = ${name}[${at}]; ${values.join(" ")}`;
}

/** To the nearest, on a tie to the even one, as src/model/files/half.ts rounds. */
const halfBits = {
  bfloat16: `fn half(x: f32) -> u32 {
  let bits = bitcast<u32>(x);
  if ((bits & 0x7fffffffu) > 0x7f800000u) { return (bits >> 16u) | 0x40u; }
  return (bits + 0x7fffu + ((bits >> 16u) & 1u)) >> 16u;
}`,
  float16: `fn half(x: f32) -> u32 {
  let bits = bitcast<u32>(x);
  let sign = (bits >> 16u) & 0x8000u; let size = bits & 0x7fffffffu;
  if (size > 0x7f800000u) { return sign | 0x7e00u; }
  if (size >= 0x477ff000u) { return sign | 0x7c00u; }
  if (size >= 0x38800000u) { return sign | ((size - 0x38000000u + 0xfffu + ((size >> 13u) & 1u)) >> 13u); }
  let exponent = size >> 23u;
  if (exponent < 102u) { return sign; }
  let mantissa = (size & 0x7fffffu) | 0x800000u;
  let shift = 126u - exponent;
  let kept = mantissa >> shift; let rest = mantissa & ((1u << shift) - 1u); let middle = 1u << (shift - 1u);
  let up = rest > middle || (rest == middle && (kept & 1u) == 1u);
  return sign | (kept + select(0u, 1u, up));
}`,
};

/** Numbers from one row to the next: a row is a whole number of words. */
export const storedStride = (type: StoredType, width: number): number =>
  Math.ceil(width / perWord[type]) * perWord[type];

/** Rounds rows of float32 to halves, a thread for each word of two. */
export function packHalves(type: "float16" | "bfloat16"): Program {
  return {
    key: `pack ${type}`,
    code: () => `${declare({ reads: ["wide"], writes: ["narrow:u32"], whole: ["rows", "width", "firstRow"] })}
${halfBits[type]}
${entry(
  256,
  `  let words = (p.width + 1u) / 2u;
  let i = group * 256u + lid;
  if (i >= p.rows * words) { return; }
  let row = i / words; let column = 2u * (i % words);
  var word = half(wide[row * p.width + column]);
  if (column + 1u < p.width) { word |= half(wide[row * p.width + column + 1u]) << 16u; }
  narrow[p.firstRow * words + i] = word;`,
)}`,
  };
}

/** A quotient as the engine's: WGSL's own may be 2.5 units in the last place off, which is another integer at times. */
const quotient = `fn quotient(a: f32, b: f32) -> f32 {
  let q = a / b;
  return fma(fma(-q, b, a), 1.0 / b, q);
}`;

/** Rounds rows of float32 to 8-bit integers, a workgroup for each row: 127 steps to the row's largest. */
export const packBytes: Program = {
  key: "pack int8",
  code: () => `${declare({
    reads: ["wide"],
    writes: ["narrow:u32", "scales"],
    whole: ["rows", "width", "firstRow"],
  })}
var<workgroup> red: array<u32, 64>;
${quotient}
${entry(
  64,
  `  if (group >= p.rows) { return; }
  var own = 0u;
  for (var i = lid; i < p.width; i += 64u) { own = max(own, bitcast<u32>(wide[group * p.width + i]) & 0x7fffffffu); }
  red[lid] = own;
  workgroupBarrier();
  for (var half = 32u; half > 0u; half /= 2u) {
    if (lid < half) { red[lid] = max(red[lid], red[lid + half]); }
    workgroupBarrier();
  }
  var top = bitcast<f32>(red[0]);
  let some = top > 1e-30;
  if (lid == 0u) { scales[p.firstRow + group] = select(0.0, quotient(top, 127.0), some); }
  if (!some) { top = 1.0; }
  let words = (p.width + 3u) / 4u;
  for (var w = lid; w < words; w += 64u) {
    var word = 0u;
    for (var b = 0u; b < 4u; b++) {
      let i = 4u * w + b;
      if (i < p.width) {
        let x = quotient(wide[group * p.width + i] * 127.0, top);
        word |= (bitcast<u32>(i32(x + select(0.5, -0.5, x < 0.0))) & 255u) << (8u * b);
      }
    }
    narrow[(p.firstRow + group) * words + w] = word;
  }`,
)}`,
};
