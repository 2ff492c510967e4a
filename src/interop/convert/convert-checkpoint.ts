import { sameBytes } from "#platform/bytes";
import { checkArguments } from "../../../common/options/check-arguments.js";
import {
  above,
  checkOptions,
  oneOf,
  type OptionRules,
} from "../../../common/options/check-options.js";
import {
  type GgufOptions,
  ggufTypes,
  type GgufWeightType,
  writeModelGguf,
} from "../../model/export/save-gguf.js";
import { isGguf } from "../../model/files/gguf/is-gguf.js";
import type { WeightType } from "../../model/files/half.js";
import { modelName } from "../../model/files/model-folder.js";
import { readModelFacts } from "../../model/files/open-model.js";
import { checkStored } from "../../model/files/open-weights.js";
import type { TensorSource } from "../../model/files/write-safetensors.js";
import { writeWeights } from "../../model/files/write-weights.js";
import { HfTokenizer } from "../../model/tokenizer/hf-tokenizer.js";
import { type BaseFiles, readBaseFiles } from "./base-files.js";
import { openCheckpoint } from "./open-checkpoint.js";
import type { WeightSource } from "./weight-source.js";
import { withAdapter } from "./with-adapter.js";

/** Writes a checkpoint's weights with what stands beside them as one GGUF file. */
async function writeSourceGguf(
  source: WeightSource,
  base: BaseFiles,
  to: string,
  options: GgufOptions,
): Promise<void> {
  const tokenizer = await HfTokenizer.load(base.folder);
  const { config, generation } = await readModelFacts(base.folder);
  const where = new Map([...source.tensors.keys()].map((name) => [name, source]));
  checkStored(config, where, config.head);
  await writeModelGguf(
    to,
    {
      config,
      generation: generation ?? { eosIds: [...tokenizer.eosIds] },
      tokenizer,
      read: (name) => source.read(name),
    },
    { ...options, name: options.name ?? modelName(base.folder) },
  );
}

/** How a checkpoint is converted. */
export interface ConvertOptions {
  /**
   * How weights are written. Default: bfloat16 for verl's shards, as its merger does; else what the
   * checkpoint has, or float32 where it has several types or packed ones. To a GGUF file also `"q8_0"`,
   * `"q4_0"` and `"q4_1"`.
   */
  dtype?: GgufWeightType;
  /** The folder with config.json and the tokenizer. Default: the checkpoint's own. */
  base?: string;
  /** A folder with PEFT's files: what its adapters add becomes part of the weights. */
  lora?: string;
  /** The weights are split into files of at most this size. Default 5e9. */
  maxShardBytes?: number;
  /** In a GGUF file, the name of the way text is cut; see {@link GgufOptions.pre}. */
  pre?: string;
}

const rules: OptionRules<ConvertOptions> = {
  dtype: oneOf(Object.keys(ggufTypes)),
  base: "path?",
  lora: "path?",
  maxShardBytes: above(0),
  pre: "text?",
};

/** What a conversion wrote. */
export interface Conversion {
  from: WeightSource["kind"];
  tensors: number;
  parameters: number;
  dtype: GgufWeightType;
  /** The files beside the weights, and where they come from. */
  files: string[];
  base: string;
  /** Names left out because the config ties them to the embeddings. */
  tied: string[];
}

const same = (a: Float32Array, b: Float32Array) =>
  sameBytes(
    new Uint8Array(a.buffer, a.byteOffset, a.byteLength),
    new Uint8Array(b.buffer, b.byteOffset, b.byteLength),
  );

/** How much is written. */
function counted(source: WeightSource, tied: readonly string[]) {
  const shapes = [...source.tensors].filter(([name]) => !tied.includes(name));
  const parameters = shapes.reduce((sum, [, t]) => sum + t.shape.reduce((a, b) => a * b, 1), 0);
  return { tensors: shapes.length, parameters };
}

const output = "lm_head.weight";
const embeddings = "model.embed_tokens.weight";

/** The output matrix, where the config ties it to the embeddings and both are there: they must agree. */
async function tiedNames(source: WeightSource, base: BaseFiles): Promise<string[]> {
  if (!base.tied || !source.tensors.has(output) || !source.tensors.has(embeddings)) return [];
  if (!same(await source.read(output), await source.read(embeddings))) {
    throw new RangeError(
      `Cannot convert a model: ${output} must equal ${embeddings} as ${base.folder}/config.json ties them, got other values`,
    );
  }
  return [output];
}

/**
 * Writes a checkpoint (verl's shards, a Hugging Face folder or a `.gguf` file) as a Hugging Face folder,
 * safetensors in name order, config, generation config and tokenizer, or as a `.gguf` file. One tensor is in memory at a time, and the
 * new folder's files take their places only when all are written.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { mkdtemp } from "node:fs/promises";
 * import { tmpdir } from "node:os";
 * import { join } from "node:path";
 * import { convertCheckpoint } from "arpo-lab/experimental/convert";
 * import { loadModel, Model, saveModel } from "arpo-lab/model";
 *
 * const [from, to] = [await mkdtemp(join(tmpdir(), "arpo-")), await mkdtemp(join(tmpdir(), "arpo-"))];
 * const sizes = { vocabSize: 50, hiddenSize: 16, intermediateSize: 32, layers: 1, heads: 2 };
 * await saveModel(Model.init(sizes, 1), from);
 * const { dtype } = await convertCheckpoint(from, to, { dtype: "bfloat16", maxShardBytes: 2000 });
 * assert.equal(dtype, "bfloat16");
 * assert.equal((await loadModel(to)).config.layers, 1);
 * ```
 */
export async function convertCheckpoint(
  from: string,
  to: string,
  options: ConvertOptions = {},
): Promise<Conversion> {
  checkArguments("convert a model", { from, to }, { from: "path", to: "path" });
  checkOptions("convert a model", options, rules);
  const opened = await openCheckpoint(from);
  let source = opened;
  try {
    if (options.lora !== undefined) source = await withAdapter(opened, options.lora);
    const base = await readBaseFiles(from, options.base);
    const tied = await tiedNames(source, base);
    const dtype = options.dtype ?? source.type ?? "float32";
    const done = { from: source.kind, dtype, base: base.folder, tied };
    if (isGguf(to)) {
      await writeSourceGguf(source, base, to, { dtype, pre: options.pre });
      return { ...done, ...counted(source, tied), files: [] };
    }
    if (dtype.startsWith("q")) {
      throw new RangeError(
        `Cannot convert a model: ${dtype} must be written to a .gguf file, got ${to}`,
      );
    }
    const tensors: TensorSource[] = [...source.tensors]
      .filter(([name]) => !tied.includes(name))
      .map(([name, { shape }]) => ({ name, shape, values: () => source.read(name) }));
    const type = dtype as WeightType;
    const files = base.contents(type);
    const { maxShardBytes } = options;
    await writeWeights(to, tensors, files, {
      dtype: type,
      ...(maxShardBytes && { maxShardBytes }),
    });
    return { ...done, ...counted(source, tied), files: [...files.keys()].sort() };
  } finally {
    await source.close();
  }
}
