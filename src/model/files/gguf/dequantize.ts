import { unpackHalf } from "../half.js";
import { plainBlocks, type ReadBlocks } from "./plain-blocks.js";
import { scaledBlocks } from "./scaled-blocks.js";
import { tensorTypes } from "./tensor-types.js";

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
