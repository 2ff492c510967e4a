import { writeModelGguf, type GgufOptions } from "../model/export/write-model-gguf.js";
import { checkStored } from "../model/files/open-weights.js";
import { readModelFacts } from "../model/files/open-model.js";
import { HfTokenizer } from "../model/tokenizer/hf-tokenizer.js";
import { modelName } from "../model/files/model-folder.js";
import type { BaseFiles } from "./base-files.js";
import type { WeightSource } from "./weight-source.js";

/** Writes a checkpoint's weights with what stands beside them as one GGUF file. */
export async function writeSourceGguf(
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
    { name: modelName(base.folder), ...options },
  );
}
