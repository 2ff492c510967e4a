import { float16Table } from "../half.js";

/**
 * Reads blocks of packed values: `count` values from the start of `bytes` into `out`, from its start.
 * Products and sums below are exact in double precision, so that each value is rounded once, as it is
 * when every step is taken in single precision.
 */
export type ReadBlocks = (bytes: Uint8Array, count: number, out: Float32Array) => void;

const size = 32;

const half = (bytes: Uint8Array, at: number): number => bytes[at]! | (bytes[at + 1]! << 8);

/** Blocks of 4-bit numbers: a value in each low half byte, then one in each high half byte. */
function fourBits(levels: readonly number[]): ReadBlocks {
  return (bytes, count, out) => {
    const scales = float16Table();
    for (let to = 0, at = 0; to < count; to += size, at += 18) {
      const scale = scales[half(bytes, at)]!;
      for (let i = 0; i < 16; i++) {
        const byte = bytes[at + 2 + i]!;
        out[to + i] = scale * levels[byte & 15]!;
        out[to + 16 + i] = scale * levels[byte >> 4]!;
      }
    }
  };
}

const readQ41: ReadBlocks = (bytes, count, out) => {
  const scales = float16Table();
  for (let to = 0, at = 0; to < count; to += size, at += 20) {
    const scale = scales[half(bytes, at)]!;
    const least = scales[half(bytes, at + 2)]!;
    for (let i = 0; i < 16; i++) {
      const byte = bytes[at + 4 + i]!;
      out[to + i] = scale * (byte & 15) + least;
      out[to + 16 + i] = scale * (byte >> 4) + least;
    }
  }
};

const readQ50: ReadBlocks = (bytes, count, out) => {
  const scales = float16Table();
  for (let to = 0, at = 0; to < count; to += size, at += 22) {
    const scale = scales[half(bytes, at)]!;
    const fifth = half(bytes, at + 2) | (half(bytes, at + 4) << 16);
    for (let i = 0; i < 16; i++) {
      const byte = bytes[at + 6 + i]!;
      out[to + i] = scale * (((byte & 15) | (((fifth >>> i) & 1) << 4)) - 16);
      out[to + 16 + i] = scale * (((byte >> 4) | (((fifth >>> (16 + i)) & 1) << 4)) - 16);
    }
  }
};

const readQ51: ReadBlocks = (bytes, count, out) => {
  const scales = float16Table();
  for (let to = 0, at = 0; to < count; to += size, at += 24) {
    const scale = scales[half(bytes, at)]!;
    const least = scales[half(bytes, at + 2)]!;
    const fifth = half(bytes, at + 4) | (half(bytes, at + 6) << 16);
    for (let i = 0; i < 16; i++) {
      const byte = bytes[at + 8 + i]!;
      out[to + i] = scale * ((byte & 15) | (((fifth >>> i) & 1) << 4)) + least;
      out[to + 16 + i] = scale * ((byte >> 4) | (((fifth >>> (16 + i)) & 1) << 4)) + least;
    }
  }
};

const readQ80: ReadBlocks = (bytes, count, out) => {
  const scales = float16Table();
  for (let to = 0, at = 0; to < count; to += size, at += 34) {
    const scale = scales[half(bytes, at)]!;
    for (let i = 0; i < size; i++) out[to + i] = scale * ((bytes[at + 2 + i]! << 24) >> 24);
  }
};

/** The levels of IQ4_NL: closer together around zero, where most weights are. */
const unevenLevels = [
  ...[-127, -104, -83, -65, -49, -35, -22, -10],
  ...[1, 13, 25, 38, 53, 69, 89, 113],
];

/** Types whose blocks have 32 values and one scale. */
export const plainBlocks: Readonly<Record<string, ReadBlocks>> = {
  Q4_0: fourBits(Array.from({ length: 16 }, (_, i) => i - 8)),
  IQ4_NL: fourBits(unevenLevels),
  Q4_1: readQ41,
  Q5_0: readQ50,
  Q5_1: readQ51,
  Q8_0: readQ80,
};
