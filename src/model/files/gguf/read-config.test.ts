// What a GGUF file's keys say of its model; what would compute something else is refused by its key.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { GgufFile } from "./gguf-file.js";
import type { GgufValue } from "./header.js";
import { readGgufConfig } from "./read-config.js";

const said: Readonly<Record<string, GgufValue>> = {
  "general.architecture": "llama",
  "llama.attention.head_count": 4,
  "llama.attention.head_count_kv": 2,
  "llama.attention.layer_norm_rms_epsilon": Math.fround(1e-5),
  "llama.block_count": 2,
  "llama.context_length": 64,
  "llama.embedding_length": 32,
  "llama.feed_forward_length": 48,
};

const read = (more: Readonly<Record<string, GgufValue>>) =>
  readGgufConfig({
    path: "a.gguf",
    metadata: new Map(Object.entries({ ...said, ...more })),
    tensors: new Map([["token_embd.weight", { type: "F32", shape: [9, 32], start: 0, bytes: 0 }]]),
  } as unknown as GgufFile);

test("what the keys say is read", async () => {
  const { config } = await read({ "tokenizer.ggml.eos_token_id": 3, "split.count": 1 });
  const { family, vocabSize, headDim, kvHeads, normEpsilon, ropeTheta, tied } = config;
  assert.deepEqual(
    { family, vocabSize, headDim, kvHeads, normEpsilon, ropeTheta, tied },
    {
      ...{ family: "llama", vocabSize: 9, headDim: 8, kvHeads: 2 },
      ...{ normEpsilon: 1e-5, ropeTheta: 10_000, tied: true },
    },
  );
  assert.deepEqual(config.eosIds, [3]);
});

test("what would change the arithmetic is refused by its key", async () => {
  const refused: [Record<string, GgufValue>, RegExp][] = [
    [
      { "general.architecture": "gemma2" },
      /one of gemma3, llama, qwen2, qwen3, smollm3, got "gemma2"/,
    ],
    [{ "llama.expert_count": 8 }, /llama.expert_count must not change what llama computes, got 8/],
    [
      { "llama.rope.scaling.type": "longrope" },
      /llama.rope.scaling.type must be one of none, linear, .*yarn, got "longrope"/,
    ],
    [{ "llama.attention.head_count_kv": [2, 4] }, /head_count_kv must be a number, got \[2,4\]/],
    [{ "llama.rope.dimension_count": 4 }, /must be a head's 8 dimensions, got 4/],
    [{ "llama.attention.sliding_window": 32 }, /must cover the context \(64\), got 32/],
    [{ "split.count": 3, "split.no": 0 }, /must be in one file.*--merge.*got "part 1 of 3"/],
  ];
  for (const [more, words] of refused) {
    await assert.rejects(
      read(more),
      (error: Error) =>
        error.message.startsWith("Cannot load a model from a.gguf: ") && words.test(error.message),
      JSON.stringify(more),
    );
  }
});
