import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { RunEstimate } from "../../../src/doctor/estimate/estimate.js";
import { HfTokenizer } from "../../../src/model/tokenizer/hf-tokenizer.js";
import { Model } from "../../../src/model/transformer/transformer.js";
import { saveModel } from "../../../src/model/files/save-model.js";
import { temporaryFolder } from "../../../tests/temporary.js";

const root = fileURLToPath(new URL("../../../../", import.meta.url));
const tell = "process.on('exit', () => console.error('most ' + process.resourceUsage().maxRSS))";

/** Runs the command line; what it says, and the most memory it had, in bytes. */
function lab(...args: string[]): { said: string; most: number } {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ["apps/cli/bin/arpo-lab.mjs", ...args],
    {
      cwd: root,
      encoding: "utf8",
      env: { ...process.env, NODE_OPTIONS: `--import "data:text/javascript,${tell}"` },
    },
  );
  assert.equal(status, 0, stderr);
  return { said: stdout, most: 1024 * Number(/most (\d+)/.exec(stderr)![1]) };
}

const larger = async () => {
  const tiny = join(root, "data/models/tiny");
  const folder = temporaryFolder("arpo-lab-estimate");
  const tokenizer = await HfTokenizer.load(tiny);
  const sizes = { hiddenSize: 256, intermediateSize: 1024, layers: 8, heads: 4, kvHeads: 2 };
  const model = Model.init({ ...sizes, vocabSize: 608, contextLength: 2048 }, 1);
  await saveModel(model, folder);
  await tokenizer.save(folder);
  const extra = JSON.parse(readFileSync(join(tiny, "generation_config.json"), "utf8")) as object;
  writeFileSync(join(folder, "generation_config.json"), JSON.stringify(extra));
  model.dispose();
  return folder;
};

const kinds: Record<string, string[]> = {
  "full, all that a pass computed kept": [
    "actor_rollout_ref.model.enable_gradient_checkpointing=false",
  ],
  "full, computed again in the backward pass": [
    "actor_rollout_ref.model.enable_gradient_checkpointing=true",
  ],
  "adapters alone": [
    "actor_rollout_ref.model.enable_gradient_checkpointing=false",
    "actor_rollout_ref.model.lora_rank=8",
  ],
  "a critic beside it": [
    "actor_rollout_ref.model.enable_gradient_checkpointing=false",
    "algorithm.adv_estimator=gae",
  ],
};

test("the memory that an estimate tells is what a run takes, within a quarter", async (t) => {
  const model = await larger();
  for (const [kind, overrides] of Object.entries(kinds)) {
    const words = [
      ...["--preset", "grpo", "--preset", "tiny"],
      `actor_rollout_ref.model.path=${model}`,
      `critic.model.path=${model}`,
      "data.train_files=tasks:calc?train=32",
      "data.val_files=tasks:calc?test=1",
      "data.train_batch_size=2",
      "data.max_response_length=64",
      "actor_rollout_ref.rollout.n=16",
      "actor_rollout_ref.actor.ppo_mini_batch_size=2",
      "trainer.total_training_steps=1",
      "trainer.val_before_train=false",
      ...overrides,
    ];
    const estimate = JSON.parse(
      lab("estimate", "--json", "--prompts", "1", ...words).said,
    ) as RunEstimate;
    const told = Object.values(estimate.memory).reduce((sum, bytes) => sum + bytes, 0);
    const out = temporaryFolder("arpo-lab-estimate-run");
    const { most } = lab("train", ...words, `trainer.default_local_dir=${out}`);
    const gigabytes = (bytes: number) => (bytes / 2 ** 30).toFixed(2);
    t.diagnostic(`${kind}: estimated ${gigabytes(told)} GiB, found ${gigabytes(most)}`);
    assert.ok(Math.abs(told / most - 1) <= 0.25, `${kind}: ${told} against ${most}`);
  }
});
