import { readSync } from "node:fs";
import { unpackHalf } from "./half.js";
import type { SafetensorsFile } from "./safetensors-file.js";

/** Values in single precision, or the bits of bfloat16. */
export type StoredValues = Float32Array | Uint16Array;

/** Maps a file into memory where the engine can; see `Engine.map`. */
export type MapFile = (path: string) => ArrayBuffer | null;

/**
 * The tensors of safetensors files as they lie there: float32, or the bits of bfloat16 (float16 is
 * widened). With a mapped file nothing is copied; without, each read is one of the tensor alone, by
 * position. Either way nothing is kept here.
 */
export class StoredTensors {
  readonly #where: ReadonlyMap<string, SafetensorsFile>;
  readonly #maps = new Map<SafetensorsFile, ArrayBuffer | null>();

  constructor(where: ReadonlyMap<string, SafetensorsFile>, map: MapFile | undefined) {
    this.#where = where;
    for (const file of new Set(where.values())) this.#maps.set(file, map?.(file.path) ?? null);
  }

  /** The mapped files. */
  get buffers(): ArrayBuffer[] {
    return [...this.#maps.values()].filter((map) => map !== null);
  }

  has(name: string): boolean {
    return this.#where.has(name);
  }

  readonly read = (name: string): StoredValues => {
    const file = this.#where.get(name)!;
    const { dtype, start, end } = file.tensors.get(name)!;
    if (dtype !== "F32" && dtype !== "F16" && dtype !== "BF16") {
      throw new TypeError(
        `Cannot read safetensors ${file.path}: ${name} must be F32, F16 or BF16, got ${dtype}`,
      );
    }
    const width = dtype === "F32" ? 4 : 2;
    const from = file.dataStart + start;
    const map = this.#maps.get(file);
    const inPlace = map && from % width === 0;
    const bytes = inPlace ? map : this.#copy(file, from, end - start);
    const at = inPlace ? from : 0;
    const count = (end - start) / width;
    if (dtype === "F32") return new Float32Array(bytes, at, count);
    const bits = new Uint16Array(bytes, at, count);
    if (dtype === "BF16") return bits;
    const values = new Float32Array(count);
    unpackHalf(bits, "float16", values);
    return values;
  };

  #copy(file: SafetensorsFile, from: number, length: number): ArrayBuffer {
    const buffer = new ArrayBuffer(length);
    for (let done = 0; done < length;) {
      const piece = new Uint8Array(buffer, done, Math.min(length - done, 1 << 30));
      const count = readSync(file.handle.fd, piece, 0, piece.length, from + done);
      if (count === 0) {
        throw new SyntaxError(
          `Cannot read safetensors ${file.path}: it must reach ${length} bytes beyond ${from}, got ${done}`,
        );
      }
      done += count;
    }
    return buffer;
  }
}
