import type { PackedValues } from "../weight-file.js";
import { dequantize } from "./dequantize.js";
import { tensorTypes } from "./tensor-types.js";

const pieceValues = 1 << 16; // unpacked at a time

/** A tensor's bytes as they lie in a GGUF file. */
export class PackedTensor implements PackedValues {
  readonly #block: { values: number; bytes: number };

  constructor(
    readonly type: string,
    readonly bytes: Uint8Array,
    readonly length: number,
  ) {
    this.#block = [...tensorTypes.values()].find(({ name }) => name === type)!;
  }

  unpack(from: number, out: Float32Array): void {
    const { values, bytes } = this.#block;
    for (let at = 0; at < out.length; at += pieceValues) {
      const part = out.subarray(at, at + pieceValues);
      const start = ((from + at) / values) * bytes;
      const end = start + (part.length / values) * bytes;
      dequantize(this.type, this.bytes.subarray(start, end), part);
    }
  }
}
