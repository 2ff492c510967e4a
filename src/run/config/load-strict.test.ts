import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { loadSftConfig } from "../sft/sft-config.js";
import { loadConfig } from "./load.js";

const rollout = "actor_rollout_ref.rollout";

/** Overrides that once were taken without a word, the key that must be named, and what else. */
const refused: [override: string, key: string, says: RegExp][] = [
  [`${rollout}.n=1e9`, `${rollout}.n`, /at most 65536, got 1000000000/],
  ["actor_rollout_ref.model.lora_rank=100000", "actor_rollout_ref.model.lora_rank", /at most 8192/],
  ["data.train_batch_size=1e12", "data.train_batch_size", /at most 1000000/],
  [`${rollout}.tools.timeout=1e10`, `${rollout}.tools.timeout`, /at most 2000000/],
  ["trainer.logger=[foo]", "trainer.logger", /"console".*got \["foo"\]/],
  ["trainer.save_freq=0.5", "trainer.save_freq", /a whole number, got 0\.5/],
  ["trainer.test_freq=1.5", "trainer.test_freq", /a whole number/],
  ["trainer.default_local_dir=''", "trainer.default_local_dir", /a text of at least 1/],
  ["trainer.resume_mode=resume_path", "trainer.resume_mode", /needs trainer.resume_from_path/],
  ["data.train_files=[]", "data.train_files", /a list of at least 1/],
  [`${rollout}.mode=async`, `${rollout}.mode`, /sync_with_tool/],
  [`${rollout}.top_p=0`, `${rollout}.top_p`, /above 0/],
  [`${rollout}.top_k=0`, `${rollout}.top_k`, /above 0, or -1/],
  [
    "actor_rollout_ref.actor.optim.weight_decay=-1",
    "actor_rollout_ref.actor.optim.weight_decay",
    /at least 0/,
  ],
  [
    "actor_rollout_ref.actor.optim.lr_warmup_steps=2.5",
    "actor_rollout_ref.actor.optim.lr_warmup_steps",
    /a whole number/,
  ],
  ["actor_rollout_ref.actor.kl_loss_coef=-1", "actor_rollout_ref.actor.kl_loss_coef", /at least 0/],
  ["algorithm.kl_ctrl.kl_coef=-1", "algorithm.kl_ctrl.kl_coef", /at least 0/],
  [
    "actor_rollout_ref.actor.ppo_mini_batch_size=3",
    "actor_rollout_ref.actor.ppo_mini_batch_size",
    /must divide data\.train_batch_size .*8, got 3/,
  ],
];
for (const [override, key, says] of refused) {
  test(`loadConfig() refuses ${override} and names the key`, async () => {
    const load = loadConfig({ preset: ["arpo", "tiny"], overrides: [override] });
    await assert.rejects(load, (error: Error) => {
      const said = error.message.replace("Cannot load the configuration: ", "");
      assert.ok(
        [`${key}: `, `${key} must be `].some((begin) => said.startsWith(begin)),
        said,
      );
      assert.match(error.message, says);
      return true;
    });
  });
}

test("loadConfig() takes a mini-batch larger than the batch: the batch is one", async () => {
  const overrides = ["data.train_batch_size=1"];
  const { config } = await loadConfig({ preset: ["arpo", "tiny"], overrides });
  assert.equal(config.actor_rollout_ref.actor.ppo_mini_batch_size, 2);
});

test("loadSftConfig() refuses numbers that mean nothing, and names the key", async () => {
  const folder = await mkdtemp(join(tmpdir(), "arpo-lab-sft-"));
  const file = join(folder, "sft.yaml");
  await writeFile(file, "model_name_or_path: m\ndataset: d\noutput_dir: o\n");
  for (const override of ["max_steps=0", "val_size=1.5", "lora_rank=100000", "save_steps=1e9"]) {
    const key = override.split("=")[0]!;
    await assert.rejects(loadSftConfig(file, [override]), new RegExp(`sft\\.yaml: ${key}: `));
  }
  await rm(folder, { recursive: true });
});
