// What running a tree again takes, as scripts: the explorer's page may load scripts of its host, and nothing else.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../../..", import.meta.url));

const policy = ["config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"];
/** The files of the package in each script. */
const scripts = {
  "engine.js": ["native/arpo.wasm"],
  "policy-tiny.js": policy.map((name) => `data/models/tiny/${name}`),
};

/** Files of the package as a script whose `files` are their names and bytes in base64. */
function filesScript(names: readonly string[]): string {
  const files = names.map((name) => ({
    name,
    base64: readFileSync(join(root, name)).toString("base64"),
  }));
  return `export const files = ${JSON.stringify(files)};\n`;
}

/** The scripts of the explorer's page that the package's own files make. */
export const againScripts = (): [name: string, text: string][] =>
  Object.entries(scripts).map(([name, names]) => [name, filesScript(names)]);
