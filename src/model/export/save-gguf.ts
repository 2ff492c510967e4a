import { checkArguments } from "../../../common/options/check-arguments.js";
import { checkOptions, oneOf, type OptionRules } from "../../../common/options/check-options.js";
import type { ModelConfig } from "../config.js";
import { actingValues } from "../files/save-model.js";
import { addedThere, pairedHeads, pairRows } from "../files/gguf/paired-rows.js";
import type { PackedType } from "../files/gguf/quantize.js";
import { ropeFactors, ropeFactorsName } from "../files/gguf/read-config.js";
import { ggufName } from "../files/gguf/tensor-names.js";
import { type GgufTensorSource, stageGguf } from "../files/gguf/write-gguf.js";
import { writtenConfig } from "../files/gguf/written-config.js";
import type { WeightType } from "../files/half.js";
import { checkWritable } from "../files/write-weights.js";
import { scalingKind } from "../rope-scalings/registry.js";
import type { GenerationConfig } from "../generation-config.js";
import { writtenTokenizer } from "../tokenizer/gguf/written-tokenizer.js";
import type { HfTokenizer } from "../tokenizer/hf-tokenizer.js";
import type { Model } from "../transformer/transformer.js";
import { weightShapes } from "../transformer/weights.js";

/** How matrices lie in a GGUF file: whole or half floats, or packed in blocks of 32. */
export type GgufWeightType = WeightType | "q8_0" | "q4_0" | "q4_1";

/** How a GGUF file is written. */
export interface GgufOptions {
  /** Of matrices; vectors stay float32. Default: float32, which loses nothing. */
  dtype?: GgufWeightType;
  /** What the file calls the model. */
  name?: string;
  /**
   * The name of the way text is cut, where llama.cpp has none for the tokenizer's own: texts may then be
   * cut otherwise there.
   */
  pre?: string;
}

/** What is written. */
interface GgufModel {
  config: ModelConfig;
  generation: GenerationConfig;
  tokenizer: HfTokenizer;
  /** Values by Hugging Face's name. */
  read(name: string): Promise<Float32Array>;
}

/** Each type's name as a tensor's, and its number as a file's. */
export const ggufTypes: Readonly<Record<GgufWeightType, readonly [PackedType, number]>> = {
  float32: ["F32", 0],
  float16: ["F16", 1],
  bfloat16: ["BF16", 32],
  q4_0: ["Q4_0", 2],
  q4_1: ["Q4_1", 3],
  q8_0: ["Q8_0", 7],
};

const rules: OptionRules<GgufOptions> = {
  dtype: oneOf(Object.keys(ggufTypes)),
  name: "text?",
  pre: "text?",
};

/** How one tensor is packed: as llama.cpp's own tools do it. */
function typeOf(name: string, shape: readonly number[], dtype: GgufWeightType): PackedType {
  const [type] = ggufTypes[dtype];
  if (shape.length === 1) return "F32";
  if (/^[FB]/.test(type)) return type;
  if (shape.at(-1)! % 32 !== 0) return "F16"; // blocks do not cross rows
  // Four bits are too few for what every token is read and told by.
  return /embed_tokens|lm_head/.test(name) ? "Q8_0" : type;
}

/** Writes a model and its tokenizer as one GGUF file, which appears whole or not at all. */
export async function writeModelGguf(
  path: string,
  { config, generation, tokenizer, read }: GgufModel,
  options: GgufOptions = {},
): Promise<void> {
  checkOptions("write GGUF", options, rules);
  const { dtype = "float32", name, pre } = options;
  const refuse = (rule: string, got: unknown): never => {
    throw new RangeError(`Cannot write GGUF: ${rule}, got ${String(got)}`);
  };
  if (config.head !== "logits") refuse('the model must have head "logits"', `"${config.head}"`);
  const tensors: GgufTensorSource[] = [...weightShapes(config)].map(([weight, shape]) => ({
    name: ggufName(weight, config.family)!,
    shape,
    type: typeOf(weight, shape, dtype),
    values: async () => {
      const type = typeOf(weight, shape, dtype);
      const fits = type === "F32" ? "float32" : type === "BF16" ? "bfloat16" : "float16";
      const added = addedThere(weight, config);
      const given = await read(weight);
      const values = checkWritable(
        added === 0 ? given : given.map((value) => value + added),
        weight,
        fits,
      );
      const heads = pairedHeads(weight, config);
      return heads === undefined ? values : pairRows(values, heads, shape[0]!);
    },
  }));
  if (config.ropeScaling && scalingKind(config.ropeScaling).name === "llama3") {
    const values = ropeFactors(config);
    tensors.push({
      ...{ name: ropeFactorsName, shape: [values.length], type: "F32" },
      values: () => values,
    });
  }
  const metadata = new Map([
    ...writtenConfig(config, generation),
    ...writtenTokenizer(tokenizer.files, tokenizer.eosIds, config, pre),
  ]);
  if (name !== undefined) metadata.set("general.name", { type: "string", value: name });
  metadata.set("general.file_type", { type: "uint32", value: ggufTypes[dtype][1] });
  metadata.set("general.quantization_version", { type: "uint32", value: 2 });
  await (await stageGguf(path, metadata, tensors)).commit();
}

/**
 * Writes a model, its adapters added, with its tokenizer and chat template as one GGUF file, which
 * llama.cpp and Ollama run and `loadModel` reads. Matrices are packed as `dtype` says: in `"q8_0"` a
 * weight takes 8.5 bits, in `"q4_0"` 4.5 and in `"q4_1"` 5 (embeddings then 8.5).
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { mkdtemp } from "node:fs/promises";
 * import { tmpdir } from "node:os";
 * import { join } from "node:path";
 * import { HfTokenizer, loadModel, Model } from "arpo-lab/model";
 * import { saveGguf, trainBpe } from "arpo-lab/experimental/formats";
 *
 * const tokenizer = new HfTokenizer(trainBpe(["low lower lowest"], { vocabSize: 270 }));
 * const sizes = { vocabSize: 270, hiddenSize: 32, intermediateSize: 64, layers: 1, heads: 2 };
 * const path = `${await mkdtemp(join(tmpdir(), "arpo-"))}/small.gguf`;
 * await saveGguf(Model.init(sizes, 1), tokenizer, path, { dtype: "q8_0" });
 * assert.equal((await loadModel(path)).config.hiddenSize, 32);
 * assert.deepEqual((await HfTokenizer.load(path)).encode("lower"), tokenizer.encode("lower"));
 * ```
 */
export async function saveGguf(
  model: Model,
  tokenizer: HfTokenizer,
  path: string,
  options: GgufOptions = {},
): Promise<void> {
  checkArguments(
    "write GGUF",
    { model, tokenizer, path },
    { model: "model", tokenizer: "tokenizer", path: "path" },
  );
  const { config, generation } = model;
  await writeModelGguf(
    path,
    { config, generation, tokenizer, read: (name) => actingValues(model, name) },
    options,
  );
}
