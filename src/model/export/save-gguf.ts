import { checkArguments } from "../../arguments/check-arguments.js";
import { actingValues } from "../files/acting-values.js";
import type { HfTokenizer } from "../tokenizer/hf-tokenizer.js";
import type { Model } from "../transformer/transformer.js";
import { writeModelGguf, type GgufOptions } from "./write-model-gguf.js";

/**
 * Writes a model, its adapters added, with its tokenizer and chat template as one GGUF file, which
 * llama.cpp and Ollama run and `loadModel` reads. Matrices are packed as `dtype` says: in `"q8_0"` a
 * weight takes 8.5 bits, in `"q4_0"` 4.5 and in `"q4_1"` 5 (embeddings then 8.5).
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { mkdtemp } from "node:fs/promises";
 * import { HfTokenizer, loadModel, Model } from "arpo-lab/model";
 * import { saveGguf, trainBpe } from "arpo-lab/experimental/formats";
 *
 * const tokenizer = new HfTokenizer(trainBpe(["low lower lowest"], { vocabSize: 270 }));
 * const sizes = { vocabSize: 270, hiddenSize: 32, intermediateSize: 64, layers: 1, heads: 2 };
 * const path = `${await mkdtemp("/tmp/arpo-")}/small.gguf`;
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
