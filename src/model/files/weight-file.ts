/** Values in single precision, or the bits of bfloat16. */
export type StoredValues = Float32Array | Uint16Array;

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
   * The values as they lie in the file where they are float32 or bfloat16, else widened to float32.
   * With the file mapped into memory nothing is copied that need not be.
   */
  stored(name: string, map: ArrayBuffer | null): StoredValues;
  close(): Promise<void>;
}
