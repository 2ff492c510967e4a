// What we write, transformers reads: needs a Python with torch and transformers (ARPO_LAB_PYTHON, else
// python3) and is skipped, saying so, where there is none.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { HfTokenizer } from "../../src/model/tokenizer/hf-tokenizer.js";
import { loadModel } from "../../src/model/load/load-model.js";
import { Model } from "../../src/model/transformer/transformer.js";
import { modelConfig, type ModelConfigInput } from "../../src/model/config.js";
import { saveModel } from "../../src/model/files/save-model.js";
import { trainBpe } from "../../src/model/tokenizer/train-bpe.js";
import { writeSafetensors } from "../../src/model/files/write-safetensors.js";
import type { SaveModelOptions } from "../../src/model/files/write-weights.js";
import { tasks } from "../../src/tasks/tasks/index.js";
import { Random } from "../../src/base/random/random.js";
import type { tf } from "../../src/tensor/tf.js";

const python = process.env.ARPO_LAB_PYTHON ?? "python3";

/** Skips the test and gives false unless this Python has transformers. */
function available(t: TestContext): boolean {
  const { status } = spawnSync(python, ["-c", "import torch, transformers"]);
  if (status !== 0) t.skip(`${python} has no transformers; set ARPO_LAB_PYTHON to one that has`);
  return status === 0;
}

/** Runs the Python side over a folder of checkpoints. */
function compare(t: TestContext, folder: string): void {
  const { status, stdout, stderr } = spawnSync(
    python,
    ["tests/python/check_checkpoints.py", folder],
    { encoding: "utf8", env: { ...process.env, HF_HUB_OFFLINE: "1" } },
  );
  for (const line of stdout.trim().split("\n")) t.diagnostic(line);
  assert.equal(status, 0, stdout + stderr);
  assert.ok(stdout.includes("ok "));
}

test("transformers loads the checkpoints of saveModel() and computes the same", async (t) => {
  if (!available(t)) return;
  const root = await mkdtemp(join(tmpdir(), "arpo-transformers-"));
  const sizes = {
    vocabSize: 64,
    hiddenSize: 24,
    intermediateSize: 40,
    layers: 2,
    heads: 4,
    kvHeads: 2,
    contextLength: 128,
    eosIds: [5, 6],
  };
  const ropeScaling = {
    factor: 4,
    lowFrequencyFactor: 1,
    highFrequencyFactor: 3,
    originalContext: 32,
  };
  const cases: Record<string, [ModelConfigInput, SaveModelOptions]> = {
    qwen2: [{ ...sizes, family: "qwen2" }, {}],
    "qwen2-untied-f16": [{ ...sizes, family: "qwen2", tied: false }, { dtype: "float16" }],
    "qwen3-sharded-bf16": [
      { ...sizes, family: "qwen3", headDim: 10, eosIds: [5] },
      { dtype: "bfloat16", maxShardBytes: 5000 },
    ],
    "llama-sharded": [
      { ...sizes, family: "llama", tied: false, ropeScaling, ropeTheta: 200 },
      { maxShardBytes: 9000 },
    ],
    "llama-biases-yarn": [
      {
        ...{ ...sizes, family: "llama", qkvBias: true, outputBias: true, mlpBias: true },
        activation: "gelu_tanh",
        ropeScaling: {
          ...{ type: "yarn", factor: 4, originalContext: 32, magnitude: 1.2 },
          ...{ fast: 16, slow: 0.5, truncate: false },
        },
      },
      {},
    ],
    "llama-longrope": [
      {
        ...{ ...sizes, family: "llama", headDim: 8 },
        ropeScaling: {
          ...{ type: "longrope", originalContext: 32, magnitude: 1.1 },
          ...{ shortFactors: [1, 1, 1, 1], longFactors: [1, 2, 3, 4] },
        },
      },
      {},
    ],
    "qwen3-window": [
      {
        ...{ ...sizes, family: "qwen3", headDim: 10, ropeScaling: { type: "linear", factor: 2 } },
        ...{ window: 13, windowed: [true, false] },
      },
      {},
    ],
    smollm3: [
      {
        ...{ ...sizes, family: "smollm3", layers: 5, mlpBias: true, window: 9 },
        ...{ rotated: [true, false, true, true, false], tied: false },
        windowed: [false, false, true, false, true],
      },
      {},
    ],
    gemma3: [
      {
        ...{ ...sizes, family: "gemma3", layers: 3, headDim: 10, window: 11, queryScalar: 7 },
        ...{ ropeTheta: 200, windowRopeTheta: 90, ropeScaling: { type: "linear", factor: 3 } },
        windowed: [true, false, true],
      },
      {},
    ],
    "gemma3-plain-f16": [
      {
        ...{ ...sizes, family: "gemma3", layers: 7, headDim: 6, window: 17, kvHeads: 1 },
        ...{ windowRopeTheta: 1e4, windowed: [true, true, true, true, true, false, true] },
      },
      { dtype: "float16" },
    ],
    qwen3_5: [
      {
        ...{ ...sizes, family: "qwen3_5", layers: 3, headDim: 12, rotaryDim: 4, tied: false },
        linear: {
          layers: [true, false, true],
          ...{ keyHeads: 2, valueHeads: 6, keyDim: 5, valueDim: 7, taps: 3 },
        },
      },
      { maxShardBytes: 9000 },
    ],
    "qwen3-value": [{ ...sizes, family: "qwen3", head: "value", eosIds: [5] }, {}],
  };
  for (const [name, [input, options]] of Object.entries(cases)) {
    const folder = join(root, name);
    // Biases and norms away from 0 and 1, so that a forgotten one shows.
    const made = await Model.build(modelConfig(input), async (weight, shape) => {
      const random = Random.from(3).split(weight);
      const centred = input.family === "gemma3" || input.family === "qwen3_5";
      const one = weight.includes("norm") && (!centred || weight.includes("linear_attn"));
      const centre = one ? 1 : 0;
      const size = shape.reduce((a, b) => a * b, 1);
      return Float32Array.from({ length: size }, () => centre + 0.25 * random.normal());
    });
    await saveModel(made, folder, options);
    const model = await loadModel(folder); // with the weights as they were rounded
    const random = Random.from(4);
    const ids = [0, 1].map(() => Array.from({ length: 100 }, () => random.integer(64)));
    const batch = model.batch(ids);
    const output: tf.Tensor =
      input.head === "value" ? model.values(batch) : model.logits(model.forward(batch));
    const source = {
      name: "output",
      shape: output.shape,
      values: () => output.dataSync() as Float32Array,
    };
    await writeSafetensors(join(folder, "ours.safetensors"), [source]);
    const eos = model.config.eosIds.length > 1 ? model.config.eosIds : model.config.eosIds[0];
    await writeFile(join(folder, "ours.json"), JSON.stringify({ ids, eos }));
    made.dispose();
    model.dispose();
  }
  compare(t, root);
  await rm(root, { recursive: true });
});

test("transformers loads the tokenizer of trainBpe() and gives the same ids and chats", async (t) => {
  if (!available(t)) return;
  const root = await mkdtemp(join(tmpdir(), "arpo-transformers-"));
  const { corpus } = JSON.parse(
    await readFile("tests/fixtures/tokenizer/expected.json", "utf8"),
  ) as { corpus: string[] };
  for (const maxDigits of [1, 3]) {
    const folder = join(root, `digits-${maxDigits}`);
    await mkdir(folder);
    const files = trainBpe(corpus, {
      vocabSize: 500,
      maxDigits,
      addedTokens: ["<think>", "</think>", "<search>", "</search>"],
    });
    await new HfTokenizer(files).save(folder);
    const tokenizer = await HfTokenizer.load(folder);
    const chats = [false, true].map((prompt) => {
      const messages = [
        { role: "system", content: "Be brief.\n" },
        { role: "user", content: "{{ 2 }} + {% 2 %} = ?" },
        { role: "assistant", content: "<think>4</think> 四 🙂" },
      ];
      return {
        messages,
        prompt,
        text: tokenizer.chat(messages, { addGenerationPrompt: prompt }),
      };
    });
    const texts = [
      ...corpus,
      ...chats.map((chat) => chat.text),
      ...wildTexts(300),
      "<think> <search>x</search><|im_end|><|im_end|>  <|im_start|>\n</think>",
      "<|im_end",
      "<<think>>",
      "",
      "  ",
      "\r\n\r\n \t",
      "\u0000\u001f\u007f\u0085\ufeff\u200b\u00ad",
    ];
    await writeFile(
      join(folder, "ours.json"),
      JSON.stringify({
        texts: texts.map((text) => {
          const ids = tokenizer.encode(text);
          assert.equal(tokenizer.decode(ids), text);
          return {
            text,
            ids,
            decoded: tokenizer.decode(ids),
            plain: tokenizer.decode(ids, { skipSpecial: true }),
          };
        }),
        chats,
        specials: [tokenizer.vocabSize, tokenizer.eosId, tokenizer.padId],
      }),
    );
  }
  compare(t, root);
  await rm(root, { recursive: true });
});

/** Strings of characters from everywhere in Unicode, with runs of white space. */
function wildTexts(count: number): string[] {
  const random = Random.from(8);
  const ranges = [
    [32, 126], [32, 126], [9, 13], [160, 591], [880, 1279], [1424, 1791], [2304, 2431],
    [8192, 8303], [0x3000, 0x30ff], [0x4e00, 0x5000], [0xac00, 0xae00], [0x1f300, 0x1f6ff],
    [0xfe00, 0xfeff], [0x10000, 0x10ffff],
  ] as const; // prettier-ignore
  return Array.from({ length: count }, () => {
    let text = "";
    for (let length = 1 + random.integer(40); length > 0; length--) {
      const [from, to] = random.choose(ranges);
      text +=
        random.uniform() < 0.2 ? " " : String.fromCodePoint(from + random.integer(to - from + 1));
    }
    return text;
  });
}

test("AutoTokenizer reads the shipped tiny model's texts into the same tokens", async (t) => {
  if (!available(t)) return;
  const folder = "data/models/tiny";
  const ours = await HfTokenizer.load(folder);
  const asked = Object.values(tasks).flatMap((make) => make({ seed: 5, train: 40, test: 1 }).train);
  const texts = [
    ...asked.map((task) => ours.chat(typeof task.prompt === "string" ? [] : task.prompt)),
    ...[" 12+3", "1234567", "a  12\n\n 3 ", "<python>47*2</python> <result>\n94\n</result>"],
    ...["naïve e\u0301 北京 ½ ٣٤", "12's IT'S", "\t007\r\n"],
  ];
  const { status, stdout, stderr } = spawnSync(python, ["tests/python/check_tokens.py", folder], {
    ...{ encoding: "utf8", input: JSON.stringify(texts) },
    env: { ...process.env, HF_HUB_OFFLINE: "1" },
  });
  assert.equal(status, 0, stderr);
  const theirs = JSON.parse(stdout) as { size: number; ids: number[][]; texts: string[] };
  assert.equal(theirs.size, ours.vocabSize);
  for (const [i, text] of texts.entries()) {
    const ids = ours.encode(text);
    assert.deepEqual(theirs.ids[i], ids, JSON.stringify(text));
    assert.equal(theirs.texts[i], ours.decode(ids), JSON.stringify(text));
  }
});
