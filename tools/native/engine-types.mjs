// Makes src/tensor/engine/engine-functions.ts, the types of the compiled engine's functions, from what
// native/src/exports.h lists and its headers declare. `--check` only says whether the file is up to date.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { format, resolveConfig } from "prettier";

const native = fileURLToPath(new URL("../../native/src", import.meta.url));
const target = fileURLToPath(
  new URL("../../src/tensor/engine/engine-functions.ts", import.meta.url),
);
const read = (name) => readFileSync(join(native, name), "utf8");

/** By C++ type: the TypeScript type, and the letter of native/src/signature.h. */
const types = {
  void: ["void", "v"],
  int: ["Int", "i"],
  float: ["number", "f"],
  double: ["number", "d"],
  "float*": ["Floats", "s"],
  "double*": ["Float64Array", "l"],
  "int32_t*": ["Int32Array", "n"],
  "uint32_t*": ["Uint32Array", "u"],
  "uint16_t*": ["Uint16Array", "h"],
  "uint8_t*": ["Uint8Array", "b"],
};

/** The arrays that may be left out, as the headers' comments say. */
const optional = {
  attention: ["lengths", "unfold"],
  attention_grad: ["lengths", "unfold"],
  log_prob_entropy_grad: ["dhead"],
  decoder_load_layer: [
    ...["query", "key", "value", "query_bias", "key_bias", "value_bias", "query_norm", "key_norm"],
    ...["output", "gate", "up", "down"],
  ],
  decoder_load_kind: [
    ...["output_bias", "gate_bias", "up_bias", "down_bias", "attended_norm", "found_norm"],
  ],
  decoder_load_ends: ["head"],
  decoder_load_rows: ["whole", "half"],
  decoder_step: ["allowed", "allowed_at", "constrained", "kept", "kept_logprobs"],
  sample_rows: ["allowed", "allowed_at", "constrained", "kept", "kept_logprobs"],
};

/** A parameter such as `const float* top_p` in TypeScript, and its letter: large if it is written to. */
function parameter(text, mayBeNull = []) {
  const [, fixed, type, name] = /^(const )?(.+?)\s*\b(\w+)$/.exec(text.trim());
  const [typed, letter] = types[type];
  const camel = name.replace(/_(\w)/g, (_, c) => c.toUpperCase());
  return {
    text: `${camel}: ${typed}${mayBeNull.includes(name) ? " | null" : ""}`,
    letter: type.endsWith("*") && !fixed ? letter.toUpperCase() : letter,
  };
}

const exported = read("exports.h");
const headers = [...exported.matchAll(/#include "(.+)"/g)].map(([, name]) => read(name)).join("\n");
const methods = [];
const letters = [];
for (const [, name] of exported.matchAll(/^ {2}X\((\w+)\)/gm)) {
  const declared = new RegExp(String.raw`((?:^//.*\n)*)^(\w+) ${name}\(([^)]*)\);`, "m").exec(
    headers,
  );
  if (!declared) throw new Error(`Cannot type ${name}: a header of exports.h must declare it`);
  const [, comment, result, list] = declared;
  const parameters = list
    .split(",")
    .filter((part) => part.trim() !== "")
    .map((part) => parameter(part, optional[name]));
  const doc = comment.replace(/^\/\/ ?/gm, "").trim();
  const shown = doc.includes("\n")
    ? `/**\n * ${doc.replace(/\n/g, "\n * ")}\n */\n`
    : `/** ${doc} */\n`;
  methods.push(
    `${doc === "" ? "" : shown}${name}(${parameters.map((p) => p.text).join(", ")}): ${result === "int" ? "number" : types[result][0]};`,
  );
  letters.push(`${name}: "${types[result][1]}${parameters.map((p) => p.letter).join("")}",`);
}
const text = `// Made by tools/native/engine-types.mjs from the headers that native/src/exports.h includes.

/** Float32 storage that the engine owns: a typed array, or a place in wasm memory. */
export type Floats = Float32Array | { readonly pointer: number; readonly length: number };

/** A 32-bit integer, or a truth value as one. */
type Int = number | boolean;

/** The compiled engine's functions; null stands for an array that is left out. */
export interface EngineFunctions {
${methods.join("\n")}
}

/** How each function's result and arguments are passed, as native/src/signature.h spells it. */
export const engineSignatures: Readonly<Record<keyof EngineFunctions, string>> = {
${letters.join("\n")}
};

/** Throws unless an engine's functions are the ones that are called here, argument for argument. */
export function checkSignatures(engine: string, found: Readonly<Record<string, string>>): void {
  for (const [name, signature] of Object.entries(engineSignatures)) {
    if (found[name] === signature) continue;
    throw new Error(
      \`Cannot load the \${engine} engine: it must be built from these sources; its \${name} must have the signature \${signature}, got \${found[name]}\`,
    );
  }
}
`;
const made = await format(text, { ...(await resolveConfig(target)), parser: "typescript" });
if (!process.argv.includes("--check")) writeFileSync(target, made);
else if (made !== readFileSync(target, "utf8")) {
  console.error(
    "engine-functions.ts is not what its headers give: run node tools/native/engine-types.mjs",
  );
  process.exitCode = 1;
}
