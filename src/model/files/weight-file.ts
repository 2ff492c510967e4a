import { unpackHalf } from "./half.js";

/** Values packed in blocks, as a GGUF file has them. */
export interface PackedValues {
  /** How: Q4_1, Q8_0, Q4_K, ... */
  readonly type: string;
  readonly bytes: Uint8Array;
  readonly length: number;
  /** Unpacks the values from a place on into `out`; both are at the start of a block. */
  unpack(from: number, out: Float32Array): void;
}

/** Values in single precision, the bits of bfloat16, or packed in blocks. */
export type StoredValues = Float32Array | Uint16Array | PackedValues;

/** A weight in a file, before its values are read. */
export interface StoredWeight {
  /** How its values lie there: F32, BF16, Q4_K, ... */
  readonly dtype: string;
  readonly shape: readonly number[];
}

/** An open file of weights by their Hugging Face names: safetensors or GGUF. */
export interface WeightFile {
  readonly path: string;
  readonly tensors: ReadonlyMap<string, StoredWeight>;
  /** The values of a weight in single precision. */
  read(name: string): Promise<Float32Array>;
  /**
   * The values as they lie in the file where they are float32, bfloat16 or GGUF's blocks, else widened
   * to float32. With the file mapped into memory nothing is copied that need not be.
   */
  stored(name: string, map: ArrayBuffer | null): StoredValues;
  close(): Promise<void>;
}

/** Maps a file into memory where the engine can; see `Engine.map`. */
export type MapFile = (path: string) => ArrayBuffer | null;

/**
 * The tensors of weight files as they lie there: float32, or the bits of bfloat16 (what is packed
 * otherwise is widened). With a mapped file nothing is copied; without, each read is one of the tensor
 * alone, by position. Either way nothing is kept here.
 */
export class StoredTensors {
  readonly #where: ReadonlyMap<string, WeightFile>;
  readonly #maps = new Map<WeightFile, ArrayBuffer | null>();

  constructor(where: ReadonlyMap<string, WeightFile>, map: MapFile | undefined) {
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
    return file.stored(name, this.#maps.get(file)!);
  };
}

/** Stored values in single precision, all of them or a span; float32 is given as it lies there, others are widened into `to`. */
export function wholeValues(
  values: StoredValues,
  from = 0,
  count = values.length - from,
  to?: Float32Array,
): Float32Array {
  if (values instanceof Float32Array) return values.subarray(from, from + count);
  const widened = to ?? new Float32Array(count);
  if (values instanceof Uint16Array) {
    unpackHalf(values.subarray(from, from + count), "bfloat16", widened);
  } else values.unpack(from, widened);
  return widened;
}
