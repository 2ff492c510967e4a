import { note } from "#platform/note";
import { join } from "#platform/path";
import { architectures } from "../architectures/registry.js";
import { type ModelConfig, modelConfig } from "../config.js";
import { type GenerationConfig, parseGenerationConfig } from "../generation-config.js";
import { GgufFile } from "./gguf/gguf-file.js";
import { isGguf } from "./gguf/is-gguf.js";
import { PackedTensor } from "./gguf/packed-tensor.js";
import { addedThere, pairedHeads, unpairRows } from "./gguf/paired-rows.js";
import { readGgufConfig, ropeFactorsName } from "./gguf/read-config.js";
import { ggufName, hfName } from "./gguf/tensor-names.js";
import { parseHfConfig } from "./hf-config.js";
import { checkStored, exists, openWeights } from "./open-weights.js";
import { readJson } from "./read-file.js";
import {
  type StoredValues,
  type StoredWeight,
  type WeightFile,
  wholeValues,
} from "./weight-file.js";

/** The weights of a GGUF file as a model's: by Hugging Face's names, rows in Hugging Face's order. */
class GgufWeights implements WeightFile {
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
      if (name !== ropeFactorsName)
        tensors.set(hfName(name, config.family) ?? name, { dtype: type, shape });
    }
    this.tensors = tensors;
  }

  async read(name: string): Promise<Float32Array> {
    return this.#inOrder(name, await this.file.read(this.#there(name)));
  }

  stored(name: string, map: ArrayBuffer | null): StoredValues {
    const there = this.#there(name);
    const tensor = this.file.tensors.get(there);
    if (addedThere(name, this.config) !== 0) {
      return this.#inOrder(name, wholeValues(this.file.packed(there, map)));
    }
    const ordered = pairedHeads(name, this.config) === undefined;
    if (tensor && map && ordered) {
      const { type, start, bytes } = tensor;
      if (type === "F32" && start % 4 === 0) return new Float32Array(map, start, bytes / 4);
      if (type === "BF16" && start % 2 === 0) return new Uint16Array(map, start, bytes / 2);
    }
    const packed = this.file.packed(there, map);
    if (ordered) return packed;
    const heads = pairedHeads(name, this.config)!;
    const rows = this.tensors.get(name)!.shape[0]!;
    return new PackedTensor(packed.type, unpairRows(packed.bytes, heads, rows), packed.length);
  }

  async close(): Promise<void> {
    await this.file.close();
  }

  #there(name: string): string {
    return ggufName(name, this.config.family) ?? name;
  }

  #inOrder(name: string, values: Float32Array): Float32Array {
    const added = addedThere(name, this.config);
    if (added !== 0) return values.map((value) => value - added);
    const heads = pairedHeads(name, this.config);
    return heads === undefined
      ? values
      : unpairRows(values, heads, this.tensors.get(name)!.shape[0]!);
  }
}

/** A folder's weights by the names that they have in a model of text alone. */
class RenamedWeights implements WeightFile {
  readonly tensors: ReadonlyMap<string, StoredWeight>;

  constructor(
    readonly file: WeightFile,
    readonly there: ReadonlyMap<string, string>,
  ) {
    this.tensors = new Map(
      [...there].flatMap(([name, stored]) => {
        const tensor = file.tensors.get(stored);
        return tensor ? [[name, tensor] as const] : [];
      }),
    );
  }

  get path(): string {
    return this.file.path;
  }

  read(name: string): Promise<Float32Array> {
    return this.file.read(this.there.get(name)!);
  }

  stored(name: string, map: ArrayBuffer | null): StoredValues {
    return this.file.stored(this.there.get(name)!, map);
  }

  close(): Promise<void> {
    return this.file.close();
  }
}

/** The weights of a folder that its architecture reads, by the names of a model of text alone. */
function textWeights(
  { family }: ModelConfig,
  where: ReadonlyMap<string, WeightFile>,
): ReadonlyMap<string, WeightFile> {
  const { around, leftOut } = architectures.get(family)!;
  if (!around && !leftOut) return where;
  const names = [...where.keys()].filter((name) => !leftOut?.test(name));
  const left = where.size - names.length;
  if (left > 0) {
    note(
      `arpo-lab: ${left} weights of pictures or of further heads are left out: text alone is read`,
    );
  }
  const there = new Map(
    names.map((name) => [
      around && name.startsWith(around.prefix) ? `model.${name.slice(around.prefix.length)}` : name,
      name,
    ]),
  );
  const renamed = new Map<WeightFile, RenamedWeights>();
  return new Map(
    [...there].map(([name, stored]) => {
      const file = where.get(stored)!;
      const own = renamed.get(file) ?? new RenamedWeights(file, there);
      renamed.set(file, own);
      return [name, own];
    }),
  );
}

/** A model on disk, before its weights are read. */
interface StoredModel {
  config: ModelConfig;
  generation?: GenerationConfig;
  /** The file that holds each weight. */
  where: ReadonlyMap<string, WeightFile>;
}

const doing = "load a model";

/** What is said about a model on disk, a Hugging Face folder or a `.gguf` file, beside its weights. */
export async function readModelFacts(path: string): Promise<Omit<StoredModel, "where">> {
  if (isGguf(path)) {
    const file = await GgufFile.open(path);
    try {
      return await readGgufConfig(file);
    } finally {
      await file.close();
    }
  }
  const config = parseHfConfig(await readJson(join(path, "config.json"), doing));
  const generation = join(path, "generation_config.json");
  if (!(await exists(generation))) return { config };
  return { config, generation: parseGenerationConfig(await readJson(generation, doing)) };
}

/** Opens a model on disk. The files are added to `opened` and are the caller's to close. */
export async function openModel(path: string, opened: WeightFile[]): Promise<StoredModel> {
  if (isGguf(path)) {
    const file = await GgufFile.open(path);
    try {
      const { config, generation } = await readGgufConfig(file);
      const weights = new GgufWeights(file, config);
      opened.push(weights);
      const where = new Map([...weights.tensors.keys()].map((name) => [name, weights]));
      return { config, generation, where };
    } catch (error) {
      await file.close();
      throw error;
    }
  }
  const facts = await readModelFacts(path);
  return { ...facts, where: textWeights(facts.config, await openWeights(path, opened)) };
}

/** Refuses what a load would, but for the values: the headers of the files say enough. */
export async function checkWeights(path: string, head?: ModelConfig["head"]): Promise<void> {
  const files: WeightFile[] = [];
  try {
    const { config: stored, where } = await openModel(path, files);
    const config = modelConfig({ ...stored, head: head ?? stored.head });
    checkStored(config, where, stored.head);
  } finally {
    for (const file of files) await file.close();
  }
}
