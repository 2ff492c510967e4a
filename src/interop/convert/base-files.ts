import { checkArguments } from "../../../common/options/check-arguments.js";
import { existsSync, readFile, readdir } from "#platform/files";
import { join } from "#platform/path";
import { formatGenerationConfig } from "../../model/generation-config.js";
import { formatHfConfig } from "../../model/files/hf-config.js";
import { HfTokenizer } from "../../model/tokenizer/hf-tokenizer.js";
import type { WeightType } from "../../model/files/half.js";
import { readModelFacts } from "../../model/files/open-model.js";
import { isGguf } from "../../model/files/gguf/is-gguf.js";
import { readJson } from "../../model/files/read-file.js";

/** What stands beside the weights of a model: its config, and its tokenizer's and other small files. */
export interface BaseFiles {
  readonly folder: string;
  readonly config: Readonly<Record<string, unknown>>;
  readonly tied: boolean;
  /** The files as they are to be written for weights of a type. */
  contents(type: WeightType): Map<string, Uint8Array>;
}

const lines = (json: unknown) =>
  new TextEncoder().encode(`${JSON.stringify(json, undefined, 2)}\n`);

/** What a GGUF file carries beside its weights, as the files of a folder. */
async function ggufBaseFiles(path: string): Promise<BaseFiles> {
  const facts = await readModelFacts(path);
  const { config, generation = { eosIds: facts.config.eosIds } } = facts;
  const { files } = await HfTokenizer.load(path);
  return {
    folder: path,
    config: formatHfConfig(config, "float32"),
    tied: config.tied,
    contents: (type) =>
      new Map([
        ["config.json", lines(formatHfConfig(config, type))],
        ["generation_config.json", lines(formatGenerationConfig(generation))],
        ["tokenizer.json", new TextEncoder().encode(JSON.stringify(files.tokenizer))],
        ["tokenizer_config.json", lines(files.config)],
      ]),
  };
}

const wanted = new Set([
  ...["generation_config.json", "chat_template.jinja", "chat_template.json"],
  ...["tokenizer.json", "tokenizer.model", "tokenizer_config.json", "vocab.json", "merges.txt"],
  ...["special_tokens_map.json", "added_tokens.json"],
  ...["preprocessor_config.json", "processor_config.json"],
]);
const largest = 1 << 28;

/**
 * Reads what stands beside a checkpoint's weights, from `base` where it is given, else from the
 * checkpoint's own `huggingface` folder, else from its folder; or what a `.gguf` file carries.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { readBaseFiles } from "arpo-lab/experimental/convert";
 *
 * await assert.rejects(readBaseFiles("src"), /must hold config\.json/);
 * ```
 */
export async function readBaseFiles(checkpoint: string, base?: string): Promise<BaseFiles> {
  checkArguments("convert a model", { checkpoint, base }, { checkpoint: "path", base: "path?" });
  const model = base ?? checkpoint;
  if (isGguf(model)) return ggufBaseFiles(model);
  const places = base === undefined ? [join(checkpoint, "huggingface"), checkpoint] : [base];
  const folder = places.find((place) => existsSync(join(place, "config.json")));
  if (folder === undefined) {
    throw new RangeError(
      `Cannot convert a model: ${places.join(" or ")} must hold config.json, got none (--base names a folder that has it)`,
    );
  }
  const config = await readJson(join(folder, "config.json"), "convert a model");
  const files = new Map<string, Uint8Array>();
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (!entry.isDirectory() && wanted.has(entry.name)) {
      const bytes = await readFile(join(folder, entry.name));
      if (bytes.length > largest) {
        throw new RangeError(
          `Cannot convert a model: ${entry.name} must have at most ${largest} bytes, got ${bytes.length}`,
        );
      }
      files.set(entry.name, bytes);
    }
  }
  return {
    folder,
    config,
    tied: config.tie_word_embeddings === true,
    contents(type) {
      const key = "dtype" in config ? "dtype" : "torch_dtype";
      return new Map([...files, ["config.json", lines({ ...config, [key]: type })]]);
    },
  };
}
