import assert from "node:assert/strict";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { convertCheckpoint } from "../../interop/convert/convert-checkpoint.js";
import { openCheckpoint } from "../../interop/convert/open-checkpoint.js";
import { Policy } from "../../policy/policies.js";
import type { ModelConfigInput } from "../config.js";
import { GgufFile } from "../files/gguf/gguf-file.js";
import { loadModel } from "../load/load-model.js";
import { modelFingerprint } from "../files/model-fingerprint.js";
import { addLora } from "../lora/add-lora.js";
import { loadDecoder } from "../load/load-decoder.js";
import { HfTokenizer } from "../tokenizer/hf-tokenizer.js";
import { trainBpe } from "../tokenizer/train-bpe.js";
import { Model } from "../transformer/transformer.js";
import { saveGguf } from "./save-gguf.js";

const root = await mkdtemp(join(tmpdir(), "arpo-gguf-"));
after(() => rm(root, { recursive: true }));

const words = ["the search for the lowest tower", "a slower searcher", "1234 towers"];
const tokenizerOf = (maxDigits: number) =>
  new HfTokenizer(trainBpe(words, { vocabSize: 290, maxDigits, addedTokens: ["<search>"] }));
const tokenizer = tokenizerOf(1);
const sizes = { hiddenSize: 64, intermediateSize: 96, layers: 2, heads: 4, kvHeads: 2 };
const made = (input: Partial<ModelConfigInput> = {}) =>
  Model.init({ vocabSize: 300, ...sizes, eosIds: [...tokenizer.eosIds], ...input }, 3);
const valuesOf = (model: Model, name: string) =>
  model.weights.get(name)!.dataSync() as Float32Array;

const llama31 = {
  factor: 8,
  lowFrequencyFactor: 1,
  highFrequencyFactor: 4,
  originalContext: 8192,
};
const models: Record<string, Partial<ModelConfigInput>> = {
  qwen2: { family: "qwen2", normEpsilon: 1e-6, contextLength: 512 },
  qwen3: { family: "qwen3", headDim: 32, tied: false },
  llama: { family: "llama", normEpsilon: 1e-5, ropeTheta: 1e5, bosId: 1, padId: 0 },
  "llama 3.1": { family: "llama", ropeTheta: 5e5, headDim: 64, ropeScaling: llama31 },
  "llama linear, biases": {
    ...{ family: "llama", ropeScaling: { type: "linear", factor: 4 } },
    ...{ qkvBias: true, outputBias: true, mlpBias: true },
  },
  "qwen2 yarn": {
    family: "qwen2",
    ropeScaling: {
      ...{ type: "yarn", factor: 4, originalContext: 512, magnitude: 0.1 * Math.log(4) + 1 },
      ...{ fast: 32, slow: 1, truncate: true },
    },
  },
  smollm3: { family: "smollm3", layers: 5, rotated: [true, true, true, false, true] },
  gemma3: {
    ...{ family: "gemma3", layers: 4, headDim: 32, window: 9, windowRopeTheta: 5e3 },
    windowed: [true, true, false, true],
  },
};
for (const [name, input] of Object.entries(models)) {
  test(`a ${name} model is read again as it was written`, async () => {
    const path = join(root, `${name}.gguf`);
    const model = made(input);
    await saveGguf(model, tokenizer, path);
    const loaded = await loadModel(path);
    const { padId } = tokenizer; // a tokenizer's wins over a model's
    assert.deepEqual(loaded.config, { ...model.config, padId });
    for (const [weight] of model.weights) {
      assert.deepEqual(valuesOf(loaded, weight), valuesOf(model, weight), weight);
    }
    loaded.dispose();
    model.dispose();
  });
}

test("what llama.cpp computes otherwise is not written", async () => {
  const refused: [Partial<ModelConfigInput>, RegExp][] = [
    [{ family: "llama", activation: "gelu_tanh" }, /llama.cpp computes of llama, got activation gelu_tanh; save/],
    [{ family: "qwen3", headDim: 32, outputBias: true }, /got biases that it does not read/],
    [{ family: "qwen2", window: 8, windowed: [false, true] }, /got windows,/],
    [{ family: "smollm3", rotated: [false, true] }, /got windows, layers without rotary positions/],
    [{ family: "qwen3_5", headDim: 32 }, /computes of qwen3_5, got layers that have no form there; save/],
    [{ family: "gemma3", headDim: 32, window: 8, windowed: [false, true] }, /got windows,/],
    [
      { ropeScaling: { type: "yarn", factor: 4, originalContext: 64, magnitude: 1, fast: 32, slow: 1, truncate: true } },
      /got rope scaling yarn with settings that it does not read/,
    ],
  ]; // prettier-ignore
  for (const [input, words] of refused) {
    const model = made(input);
    await assert.rejects(saveGguf(model, tokenizer, join(root, "no.gguf")), words);
    model.dispose();
  }
});

test("the tokenizer comes along: tokens, ends, chat template", async () => {
  const path = join(root, "tokenizer.gguf");
  const model = made();
  await saveGguf(model, tokenizer, path, { dtype: "q8_0" });
  model.dispose();
  const found = await HfTokenizer.load(path);
  const text = "<search>the towers</search> 12345  naïve\r\n🙂<|im_end|>";
  assert.deepEqual(found.encode(text), tokenizer.encode(text));
  assert.equal(found.decode(found.encode(text)), text);
  assert.deepEqual([found.eosIds, found.padId], [tokenizer.eosIds, tokenizer.padId]);
  const chat = [{ role: "user", content: "lower" }];
  assert.equal(found.chat(chat), tokenizer.chat(chat));
  const skipped = { skipSpecial: true };
  assert.equal(found.decode(found.encode("a<|im_end|><search>"), skipped), "a<search>");
});

test("matrices are packed as asked for, vectors and odd widths are not", async () => {
  const path = join(root, "packed.gguf");
  const model = made({ hiddenSize: 64, intermediateSize: 72, tied: false });
  for (const [dtype, type, ends] of [
    ["q4_0", "Q4_0", "Q8_0"],
    ["q4_1", "Q4_1", "Q8_0"],
    ["q8_0", "Q8_0", "Q8_0"],
    ["bfloat16", "BF16", "BF16"],
  ] as const) {
    await saveGguf(model, tokenizer, path, { dtype, name: "a" });
    const file = await GgufFile.open(path);
    const typeOf = (name: string) => file.tensors.get(name)?.type;
    assert.equal(typeOf("blk.0.attn_q.weight"), type);
    assert.equal(typeOf("blk.1.ffn_down.weight"), dtype === "bfloat16" ? "BF16" : "F16");
    assert.deepEqual([typeOf("token_embd.weight"), typeOf("output.weight")], [ends, ends]);
    assert.equal(typeOf("blk.0.attn_k.bias"), "F32");
    assert.equal(file.metadata.get("general.name"), "a");
    await file.close();
    const { decoder } = await loadDecoder(path, { dtype: "int8" });
    decoder.dispose();
    const [loaded, name] = [await loadModel(path), "model.layers.0.mlp.up_proj.weight"];
    const [found, wanted] = [valuesOf(loaded, name), valuesOf(model, name)];
    const worst = wanted.reduce((most, w, i) => Math.max(most, Math.abs(w - found[i]!)), 0);
    const largest = Math.max(...wanted.map(Math.abs));
    assert.ok(
      worst > 0 && worst < largest / (dtype.startsWith("q4") ? 7 : 100),
      `${dtype} ${worst}`,
    );
    loaded.dispose();
  }
  model.dispose();
});

test("a folder and a GGUF file turn into each other, adapters are added", async () => {
  const [file, folder, again] = ["c.gguf", "c", "d.gguf"].map((name) => join(root, name)) as [
    string,
    string,
    string,
  ];
  const model = made({ family: "llama" });
  addLora(model, { rank: 2, alpha: 4 });
  await saveGguf(model, tokenizer, file);
  model.dispose();
  const there = await convertCheckpoint(file, folder);
  assert.deepEqual([there.from, there.dtype], ["GGUF file", "float32"]);
  assert.ok((await readdir(folder)).includes("tokenizer.json"));
  const back = await convertCheckpoint(folder, again, { dtype: "float32" });
  assert.equal(back.from, "Hugging Face folder");
  const [one, other] = [await openCheckpoint(file), await openCheckpoint(again)];
  assert.ok(one.tensors.size > 10);
  for (const name of one.tensors.keys()) {
    assert.deepEqual(await other.read(name), await one.read(name), name);
  }
  await one.close();
  await other.close();
  const text = "the search <search>";
  const [a, b] = [await HfTokenizer.load(folder), await HfTokenizer.load(again)];
  assert.deepEqual(a.encode(text), tokenizer.encode(text));
  assert.deepEqual(b.encode(text), tokenizer.encode(text));
  assert.notEqual(await modelFingerprint(file), await modelFingerprint(again)); // another name inside
  const policy = await Policy.load(file);
  assert.equal(policy.name, "c");
  policy.dispose();
});

test("what GGUF cannot say, or llama.cpp not do, is refused", async () => {
  const path = join(root, "refused.gguf");
  const model = made();
  await assert.rejects(saveGguf(model, tokenizerOf(2), path), /cut text in a way llama.cpp has/);
  await assert.rejects(saveGguf(model, tokenizer, path, { pre: "mine" }), /pre must be one of/);
  const { tokenizer: json, config } = tokenizer.files;
  const other = (change: object) => new HfTokenizer({ tokenizer: { ...json, ...change }, config });
  const lower = { normalizer: { type: "Lowercase" } };
  await assert.rejects(saveGguf(model, other(lower), path), /must not change text.*Lowercase/);
  const few = made({ vocabSize: 258, eosIds: [] });
  await assert.rejects(saveGguf(few, tokenizer, path), /a row for every token \(258\)/);
  const critic = made({ head: "value" });
  await assert.rejects(saveGguf(critic, tokenizer, path), /must have head "logits"/);
  await assert.rejects(
    saveGguf(model, tokenizer, path, { dtype: "q6_k" as "q8_0" }),
    /dtype must be one of float32, .*got "q6_k"/,
  );
  await saveGguf(model, tokenizerOf(2), path, { pre: "qwen2" });
  await assert.rejects(
    convertCheckpoint(path, join(root, "packed"), { dtype: "q4_0" }),
    /q4_0 must be written to a .gguf file/,
  );
  for (const one of [model, few, critic]) one.dispose();
});
