import type { WeightFile } from "../model/files/weight-file.js";
import { openModel } from "../model/files/open-model.js";
import type { WeightType } from "../model/files/half.js";
import type { WeightEntry, WeightSource } from "./weight-source.js";

const types: Readonly<Record<string, WeightType>> = {
  F32: "float32",
  F16: "float16",
  BF16: "bfloat16",
};

/** The weights of a GGUF file, unpacked, by Hugging Face's names. */
export async function openGguf(path: string): Promise<WeightSource> {
  const files: WeightFile[] = [];
  const { where } = await openModel(path, files);
  const [file] = files as [WeightFile];
  const tensors = new Map<string, WeightEntry>();
  for (const name of [...where.keys()].sort()) {
    const { shape, dtype } = file.tensors.get(name)!;
    tensors.set(name, { shape, type: types[dtype] ?? dtype });
  }
  const [type, ...others] = new Set([...tensors.values()].map((entry) => entry.type));
  return {
    kind: "GGUF file",
    folder: path,
    tensors,
    // Half floats beside float32 vectors, or packed blocks, lose nothing in float32.
    type: others.length === 0 ? Object.values(types).find((one) => one === type) : undefined,
    read: (name) => file.read(name),
    close: () => file.close(),
  };
}
