import { createHash } from "node:crypto";
import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { tasks } from "../../../tasks/tasks/index.js";
import { HfTokenizer } from "../../../model/tokenizer/hf-tokenizer.js";
import type { ModelConfigInput } from "../../../model/config.js";
import { Model } from "../../../model/transformer/transformer.js";
import { PlainDecoder } from "../../../model/decoder/plain.js";
import { decoderShape, decoderWeights } from "../../../model/decoder/of-model.js";
import { LocalPolicy } from "../../../policy/local-policy.js";
import { ToolSet } from "../../../tools/tool-set.js";
import { loadConfig } from "../../config/load.js";
import { tinyTokenizer } from "../../tiny/tiny-tokenizer.js";
import type { LocalParts } from "../trainer.js";

/** The model's. */
const sizes = { hiddenSize: 8, intermediateSize: 16, layers: 1, heads: 2, contextLength: 128 };
const python = {
  name: "python",
  tag: "python",
  description: "Answers 42.",
  execute: () => "42",
};

/** A run of a model of a few weights, four steps of two prompts; `shape` says what else the model is. */
export async function smallParts(
  overrides: string[] = [],
  shape: Partial<ModelConfigInput> = {},
): Promise<LocalParts> {
  const { config } = await loadConfig({
    preset: ["arpo", "tiny"],
    overrides: [
      "data.train_batch_size=2",
      "data.max_response_length=12",
      "actor_rollout_ref.actor.ppo_mini_batch_size=1",
      "actor_rollout_ref.actor.optim.lr=1e-2",
      "++actor_rollout_ref.rollout.n=3",
      "actor_rollout_ref.rollout.initial_rollouts=2",
      "trainer.total_training_steps=4",
      "trainer.save_freq=2",
      "trainer.test_freq=2",
      "trainer.val_before_train=true",
      ...overrides,
    ],
  });
  const tokenizer = new HfTokenizer(tinyTokenizer());
  const model = Model.init({ vocabSize: tokenizer.vocabSize, ...sizes, ...shape }, 5);
  const decoder = new PlainDecoder(decoderShape(model.config), () => decoderWeights(model));
  const policy = new LocalPolicy({
    name: "tiny",
    tokenizer,
    decoder,
    weightsVersion: () => model.version,
  });
  const set = tasks.calc({ train: 6, test: 2 });
  return {
    config,
    policy: Object.defineProperty(Object.assign(policy, { model }), "version", {
      get: () => model.updates,
    }),
    tools: new ToolSet([python]),
    // Any signal at all: the share of even tokens is not asked for, the length is.
    reward: ({ length, response }) => (length % 3) / 2 + (response.includes("1") ? 0.5 : 0),
    train: set.train,
    validation: set.test,
    ...(config.algorithm.adv_estimator === "gae"
      ? { critic: Model.init({ vocabSize: tokenizer.vocabSize, ...sizes, head: "value" }, 6) }
      : {}),
  };
}

/** What a run of four steps ended with: hashes of its last checkpoint and its metrics. */
export async function runBytes(path: string): Promise<Record<string, string>> {
  const names = (await readdir(path, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name));
  const kept = names.filter((n) => /global_step_4|metrics\.jsonl/.test(n)).sort();
  const hash = (data: Buffer) => createHash("sha256").update(data).digest("hex").slice(0, 16);
  const read = kept.map(async (n) => [n.slice(path.length), hash(await readFile(n))]);
  return Object.fromEntries(await Promise.all(read));
}
