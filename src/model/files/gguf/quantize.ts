import { float16Bits, packHalf } from "../half.js";

// Steps round to single precision where ggml's reference code rounds, so the bytes are the same.
const single = Math.fround;
const size = 32;

/** Writes the scale and the numbers of the block that begins at `from` to `out` at a position. */
type PackBlock = (values: Float32Array, from: number, out: Uint8Array, at: number) => void;

const inverse = (scale: number): number => {
  const value = single(1 / scale);
  return scale === 0 || !Number.isFinite(value) ? 0 : value;
};

const float = new Float32Array(1);
const word = new Uint32Array(float.buffer);

function writeHalf(value: number, out: Uint8Array, at: number): void {
  float[0] = value;
  const bits = float16Bits(word[0]!);
  out[at] = bits & 255;
  out[at + 1] = bits >> 8;
}

const packQ80: PackBlock = (values, from, out, at) => {
  let largest = 0;
  for (let i = from; i < from + size; i++) largest = Math.max(largest, Math.abs(values[i]!));
  const scale = single(largest / 127);
  const times = inverse(scale);
  writeHalf(scale, out, at);
  for (let i = 0; i < size; i++) {
    const number = single(values[from + i]! * times);
    const away = Math.floor(Math.abs(number) + 0.5); // halves away from zero
    out[at + 2 + i] = number < 0 ? -away : away;
  }
};

const four = (number: number) => Math.min(15, Math.trunc(number));

const packQ40: PackBlock = (values, from, out, at) => {
  let most = values[from]!;
  for (let i = from; i < from + size; i++) {
    if (Math.abs(values[i]!) > Math.abs(most)) most = values[i]!;
  }
  const scale = single(most / -8);
  const times = inverse(scale);
  writeHalf(scale, out, at);
  const number = (i: number) => four(single(single(values[i]! * times) + 8.5));
  // The first half of the numbers in low half bytes.
  for (let i = 0; i < 16; i++) out[at + 2 + i] = number(from + i) | (number(from + 16 + i) << 4);
};

const packQ41: PackBlock = (values, from, out, at) => {
  let [least, most] = [values[from]!, values[from]!]; // of zeros of both signs the first
  for (let i = from; i < from + size; i++) {
    if (values[i]! < least) least = values[i]!;
    if (values[i]! > most) most = values[i]!;
  }
  const scale = single(single(most - least) / 15);
  const times = inverse(scale);
  writeHalf(scale, out, at);
  writeHalf(least, out, at + 2);
  const number = (i: number) => four(single(single(single(values[i]! - least) * times) + 0.5));
  for (let i = 0; i < 16; i++) out[at + 4 + i] = number(from + i) | (number(from + 16 + i) << 4);
};

const packers = {
  Q8_0: { bytes: 34, pack: packQ80 },
  Q4_0: { bytes: 18, pack: packQ40 },
  Q4_1: { bytes: 20, pack: packQ41 },
} as const;

/** Types that values can be packed in. */
export type PackedType = "F32" | "F16" | "BF16" | keyof typeof packers;

/**
 * Values as a GGUF tensor of a type packs them: the bytes of ggml's reference code. Q8_0, Q4_0 and Q4_1
 * take 32 values at a time.
 */
export function quantize(type: PackedType, values: Float32Array): Uint8Array {
  if (type === "F32") return new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
  if (type === "F16" || type === "BF16") {
    return new Uint8Array(packHalf(values, type === "F16" ? "float16" : "bfloat16").buffer);
  }
  if (!Object.hasOwn(packers, type)) {
    const types = ["F32", "F16", "BF16", ...Object.keys(packers)].join(", ");
    throw new RangeError(`Cannot pack values: the type must be one of ${types}, got ${type}`);
  }
  if (values.length % size !== 0) {
    throw new RangeError(
      `Cannot pack values: ${type} must have a multiple of ${size} values, got ${values.length}`,
    );
  }
  const { bytes, pack } = packers[type];
  const out = new Uint8Array((values.length / size) * bytes);
  for (let i = 0; i * size < values.length; i++) {
    pack(values, i * size, out, i * bytes);
  }
  return out;
}
