// `node tools/data/random-model.mjs FOLDER [--dtype float32|float16|bfloat16] [--layers N]` writes a model
// of Qwen2.5-0.5B's exact shape (tools/bench/parts/shapes.ts) with random weights, and a small byte-level
// tokenizer learnt from this repository's texts: for trying how a real model loads, decodes and trains without
// downloading one.
// Needs 1 GB of disk (2 in float32); the model is never in memory as a whole.
import { readdirSync, readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { HfTokenizer } from "../../dist/src/model/tokenizer/hf-tokenizer.js";
import { modelConfig } from "../../dist/src/model/config.js";
import { saveRandomModel } from "../../dist/src/model/files/save-model.js";
import { shapes } from "../../dist/tools/bench/parts/shapes.js";
import { trainBpe } from "../../dist/src/model/tokenizer/train-bpe.js";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    dtype: { type: "string", default: "bfloat16" },
    layers: { type: "string", default: "24" },
  },
});
const [folder] = positionals;
const dtypes = ["float32", "float16", "bfloat16"];
const layers = Number(values.layers);
if (!folder || !dtypes.includes(values.dtype) || !Number.isInteger(layers) || layers < 1) {
  console.error(
    `usage: node tools/data/random-model.mjs FOLDER [--dtype ${dtypes.join("|")}] [--layers N]`,
  );
  process.exit(2);
}

const docs = fileURLToPath(new URL("../../docs/", import.meta.url));
const texts = readdirSync(docs)
  .filter((name) => name.endsWith(".md"))
  .sort()
  .map((name) => readFileSync(join(docs, name), "utf8"));
const files = trainBpe(texts, { vocabSize: 2048 });
const tokenizer = new HfTokenizer(files);

await mkdir(folder, { recursive: true });
const config = modelConfig({
  ...shapes["qwen2.5-0.5b"],
  ...{ layers, contextLength: 32_768, tied: true },
  eosIds: tokenizer.eosIds,
});
await saveRandomModel(config, 1, folder, { dtype: values.dtype });
const json = (value) => `${JSON.stringify(value, undefined, 2)}\n`;
await writeFile(join(folder, "tokenizer.json"), json(files.tokenizer));
await writeFile(join(folder, "tokenizer_config.json"), json(files.config));
if (files.chatTemplate) await writeFile(join(folder, "chat_template.jinja"), files.chatTemplate);
console.log(
  `${folder}: Qwen2.5-0.5B's shape${layers === 24 ? "" : ` with ${layers} layers`}, ${values.dtype}`,
);
