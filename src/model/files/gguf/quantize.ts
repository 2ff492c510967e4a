import { packHalf } from "../half.js";

// Steps round to single precision where ggml's reference code rounds, so the bytes are the same.
const single = Math.fround;
const size = 32;

/** Writes one block's scale and numbers to `out` at a position. */
type PackBlock = (block: Float32Array, out: Uint8Array, at: number) => void;

const inverse = (scale: number): number => {
  const value = single(1 / scale);
  return scale === 0 || !Number.isFinite(value) ? 0 : value;
};

function writeHalf(value: number, out: Uint8Array, at: number): void {
  const [bits] = packHalf(Float32Array.of(value), "float16");
  out[at] = bits! & 255;
  out[at + 1] = bits! >> 8;
}

const packQ80: PackBlock = (block, out, at) => {
  let largest = 0;
  for (const value of block) largest = Math.max(largest, Math.abs(value));
  const scale = single(largest / 127);
  const times = inverse(scale);
  writeHalf(scale, out, at);
  for (const [i, value] of block.entries()) {
    const number = single(value * times);
    const away = Math.floor(Math.abs(number) + 0.5); // halves away from zero
    out[at + 2 + i] = number < 0 ? -away : away;
  }
};

/** Numbers from 0 to 15, the first half of them in low half bytes. */
function writeFours(
  block: Float32Array,
  out: Uint8Array,
  at: number,
  number: (v: number) => number,
) {
  const four = (value: number) => Math.min(15, Math.trunc(number(value)));
  for (let i = 0; i < 16; i++) out[at + i] = four(block[i]!) | (four(block[16 + i]!) << 4);
}

const packQ40: PackBlock = (block, out, at) => {
  let most = block[0]!;
  for (const value of block) if (Math.abs(value) > Math.abs(most)) most = value;
  const scale = single(most / -8);
  const times = inverse(scale);
  writeHalf(scale, out, at);
  writeFours(block, out, at + 2, (value) => single(single(value * times) + 8.5));
};

const packQ41: PackBlock = (block, out, at) => {
  const least = block.reduce((a, b) => (b < a ? b : a)); // of zeros of both signs the first
  const most = block.reduce((a, b) => (b > a ? b : a));
  const scale = single(single(most - least) / 15);
  const times = inverse(scale);
  writeHalf(scale, out, at);
  writeHalf(least, out, at + 2);
  writeFours(block, out, at + 4, (value) => single(single(single(value - least) * times) + 0.5));
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
    pack(values.subarray(i * size, (i + 1) * size), out, i * bytes);
  }
  return out;
}
