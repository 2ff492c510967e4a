import type { ModelConfig } from "../../config.js";
import type { StoredValues, StoredWeight, WeightFile } from "../weight-file.js";
import { GgufFile } from "./gguf-file.js";
import { PackedTensor } from "./packed-tensor.js";
import { pairedHeads, unpairRows } from "./paired-rows.js";
import { ropeFactorsName } from "./rope-factors.js";
import { ggufName, hfName } from "./tensor-names.js";

/** The weights of a GGUF file as a model's: by Hugging Face's names, rows in Hugging Face's order. */
export class GgufWeights implements WeightFile {
  readonly path: string;
  readonly tensors: ReadonlyMap<string, StoredWeight>;

  constructor(
    readonly file: GgufFile,
    readonly config: ModelConfig,
  ) {
    this.path = file.path;
    const tensors = new Map<string, StoredWeight>();
    for (const [name, { type, shape }] of file.tensors) {
      // What has no name there is told by checkStored under its own.
      if (name !== ropeFactorsName) tensors.set(hfName(name) ?? name, { dtype: type, shape });
    }
    this.tensors = tensors;
  }

  async read(name: string): Promise<Float32Array> {
    return this.#inOrder(name, await this.file.read(ggufName(name) ?? name));
  }

  stored(name: string, map: ArrayBuffer | null): StoredValues {
    const tensor = this.file.tensors.get(ggufName(name) ?? name);
    const ordered = pairedHeads(name, this.config) === undefined;
    if (tensor && map && ordered) {
      const { type, start, bytes } = tensor;
      if (type === "F32" && start % 4 === 0) return new Float32Array(map, start, bytes / 4);
      if (type === "BF16" && start % 2 === 0) return new Uint16Array(map, start, bytes / 2);
    }
    const packed = this.file.packed(ggufName(name) ?? name, map);
    if (ordered) return packed;
    const heads = pairedHeads(name, this.config)!;
    const rows = this.tensors.get(name)!.shape[0]!;
    return new PackedTensor(packed.type, unpairRows(packed.bytes, heads, rows), packed.length);
  }

  async close(): Promise<void> {
    await this.file.close();
  }

  #inOrder(name: string, values: Float32Array): Float32Array {
    const heads = pairedHeads(name, this.config);
    return heads === undefined
      ? values
      : unpairRows(values, heads, this.tensors.get(name)!.shape[0]!);
  }
}
