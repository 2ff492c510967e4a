import { float16Table, unpackHalf } from "../half.js";
import { plainBlocks, type ReadBlocks } from "./plain-blocks.js";
import { tensorTypes } from "./tensor-types.js";

// The K types: 256 values in groups, whose scales are small integers times the block's own scale.

const size = 256;

const half = (bytes: Uint8Array, at: number): number => bytes[at]! | (bytes[at + 1]! << 8);

/** 16 bytes of scales and offsets, 64 of 2-bit numbers, the block's scale and offset. */
const readQ2: ReadBlocks = (bytes, count, out) => {
  const halves = float16Table();
  for (let to = 0, at = 0; to < count; to += size, at += 84) {
    const scale = halves[half(bytes, at + 80)]!;
    const offset = halves[half(bytes, at + 82)]!;
    for (let group = 0; group < 16; group++) {
      const byte = bytes[at + group]!;
      const own = scale * (byte & 15);
      const less = offset * (byte >> 4);
      const from = at + 16 + 32 * (group >> 3) + 16 * (group & 1);
      const shift = 2 * ((group >> 1) & 3);
      for (let i = 0; i < 16; i++) {
        out[to + 16 * group + i] = own * ((bytes[from + i]! >> shift) & 3) - less;
      }
    }
  }
};

/** 32 bytes of third bits, 64 of 2-bit numbers, 12 of 6-bit scales, the block's scale. */
const readQ3: ReadBlocks = (bytes, count, out) => {
  const halves = float16Table();
  for (let to = 0, at = 0; to < count; to += size, at += 110) {
    const scale = halves[half(bytes, at + 108)]!;
    for (let group = 0; group < 16; group++) {
      const low = bytes[at + 96 + (group & 7)]! >> (group < 8 ? 0 : 4);
      const high = bytes[at + 104 + (group & 3)]! >> (2 * (group >> 2));
      const own = scale * (((low & 15) | ((high & 3) << 4)) - 32);
      const half16 = 16 * (group & 1);
      const from = at + 32 + 32 * (group >> 3) + half16;
      const shift = 2 * ((group >> 1) & 3);
      const bit = group >> 1;
      for (let i = 0; i < 16; i++) {
        const third = ((bytes[at + half16 + i]! >> bit) & 1) ^ 1; // set where nothing is taken off
        out[to + 16 * group + i] = own * (((bytes[from + i]! >> shift) & 3) - 4 * third);
      }
    }
  }
};

/** The 6-bit scale of a group of 32 in the 12 bytes of Q4_K and Q5_K. */
const groupScale = (bytes: Uint8Array, at: number, group: number): number =>
  group < 4
    ? bytes[at + group]! & 63
    : (bytes[at + 4 + group]! & 15) | ((bytes[at + group - 4]! >> 2) & 48);

/** The 6-bit offset of a group beside it. */
const groupOffset = (bytes: Uint8Array, at: number, group: number): number =>
  group < 4
    ? bytes[at + 4 + group]! & 63
    : (bytes[at + 4 + group]! >> 4) | ((bytes[at + group]! >> 2) & 48);

/** The block's scale and offset, 12 bytes of both for groups, 128 of 4-bit numbers. */
const readQ4: ReadBlocks = (bytes, count, out) => {
  const halves = float16Table();
  for (let to = 0, at = 0; to < count; to += size, at += 144) {
    const scale = halves[half(bytes, at)]!;
    const offset = halves[half(bytes, at + 2)]!;
    for (let group = 0; group < 8; group++) {
      const own = scale * groupScale(bytes, at + 4, group);
      const less = offset * groupOffset(bytes, at + 4, group);
      const from = at + 16 + 32 * (group >> 1);
      const shift = 4 * (group & 1);
      for (let i = 0; i < 32; i++) {
        out[to + 32 * group + i] = own * ((bytes[from + i]! >> shift) & 15) - less;
      }
    }
  }
};

/** As Q4_K, with 32 bytes of fifth bits before the 4-bit numbers. */
const readQ5: ReadBlocks = (bytes, count, out) => {
  const halves = float16Table();
  for (let to = 0, at = 0; to < count; to += size, at += 176) {
    const scale = halves[half(bytes, at)]!;
    const offset = halves[half(bytes, at + 2)]!;
    for (let group = 0; group < 8; group++) {
      const own = scale * groupScale(bytes, at + 4, group);
      const less = offset * groupOffset(bytes, at + 4, group);
      const from = at + 48 + 32 * (group >> 1);
      const shift = 4 * (group & 1);
      for (let i = 0; i < 32; i++) {
        const fifth = (bytes[at + 16 + i]! >> group) & 1;
        out[to + 32 * group + i] = own * (((bytes[from + i]! >> shift) & 15) | (fifth << 4)) - less;
      }
    }
  }
};

/** 128 bytes of low halves, 64 of upper two bits, 16 scales of 8 bits, the block's scale. */
const readQ6: ReadBlocks = (bytes, count, out) => {
  const halves = float16Table();
  for (let to = 0, at = 0; to < count; to += size, at += 210) {
    const scale = halves[half(bytes, at + 208)]!;
    for (let group = 0; group < 16; group++) {
      const own = scale * ((bytes[at + 192 + group]! << 24) >> 24);
      const quarter = (group >> 1) & 3;
      const half16 = 16 * (group & 1);
      const low = at + 64 * (group >> 3) + 32 * (quarter & 1) + half16;
      const high = at + 128 + 32 * (group >> 3) + half16;
      const lowShift = 4 * (quarter >> 1);
      const highShift = 2 * quarter;
      for (let i = 0; i < 16; i++) {
        const number =
          ((bytes[low + i]! >> lowShift) & 15) | (((bytes[high + i]! >> highShift) & 3) << 4);
        out[to + 16 * group + i] = own * (number - 32);
      }
    }
  }
};

/** Types whose blocks have 256 values in groups with scales of their own. */
const scaledBlocks: Readonly<Record<string, ReadBlocks>> = {
  Q2_K: readQ2,
  Q3_K: readQ3,
  Q4_K: readQ4,
  Q5_K: readQ5,
  Q6_K: readQ6,
};

/** 16-bit values of bytes that may lie at an odd place. */
const halves = (bytes: Uint8Array, count: number) =>
  new Uint16Array(bytes.slice(0, 2 * count).buffer);

const readers: Readonly<Record<string, ReadBlocks>> = {
  F32: (bytes, count, out) =>
    new Uint8Array(out.buffer, out.byteOffset, 4 * count).set(bytes.subarray(0, 4 * count)),
  F16: (bytes, count, out) => unpackHalf(halves(bytes, count), "float16", out.subarray(0, count)),
  BF16: (bytes, count, out) => unpackHalf(halves(bytes, count), "bfloat16", out.subarray(0, count)),
  ...plainBlocks,
  ...scaledBlocks,
};

/** The types whose values can be read. */
export const readableTypes: readonly string[] = Object.keys(readers);

/** The values of a GGUF tensor's bytes, written to `out`: bit for bit what ggml's reference code gives. */
export function dequantize(type: string, bytes: Uint8Array, out: Float32Array): void {
  const read = Object.hasOwn(readers, type) ? readers[type] : undefined;
  if (!read) {
    throw new RangeError(
      `Cannot read packed values: the type must be one of ${readableTypes.join(", ")}, got ${type}`,
    );
  }
  const packed = [...tensorTypes.values()].find(({ name }) => name === type)!;
  if (
    out.length % packed.values !== 0 ||
    (out.length / packed.values) * packed.bytes !== bytes.length
  ) {
    throw new RangeError(
      `Cannot read packed values: ${type} must have ${packed.bytes} bytes for each ${packed.values} values, got ${bytes.length} for ${out.length}`,
    );
  }
  read(bytes, out.length, out);
}
