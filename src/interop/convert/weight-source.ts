import type { WeightType } from "../../model/files/half.js";

/** A tensor of a checkpoint, before its values are read. */
export interface WeightEntry {
  readonly shape: readonly number[];
  /** How its values lie in the file: float32, bfloat16, float64, int64, … */
  readonly type: string;
}

/** A checkpoint's weights in name order, read one tensor at a time. */
export interface WeightSource {
  readonly kind: "verl shards" | "Hugging Face folder" | "GGUF file";
  /** The folder, or the file. */
  readonly folder: string;
  readonly tensors: ReadonlyMap<string, WeightEntry>;
  /** The type a merge gives unless another is asked for; undefined where types are mixed. */
  readonly type: WeightType | undefined;
  read(name: string): Promise<Float32Array>;
  close(): Promise<void>;
}
