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
