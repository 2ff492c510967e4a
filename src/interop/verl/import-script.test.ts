import assert from "node:assert/strict";
import { test } from "node:test";
import { importScript } from "./import-script.js";

const script = String.raw`#!/bin/bash
# The form of the published scripts.
PARENT_DIR="$(pwd)"
export PYTHONPATH="$PARENT_DIR"/verl:$PYTHONPATH
N_NODES=2; GPUS=8
MODEL="Qwen/Qwen2.5-7B-Instruct"   # a comment
ROLLOUT_N=16
TRAIN='["a.parquet","b.parquet"]'
SAVE=${"${MODEL}"}_run

if [ ! -d x ]; then mkdir -p x; fi
python3 -m verl.trainer.main_ppo \
    --config-path=config \
    algorithm.adv_estimator=grpo \
    data.train_files="${"$TRAIN"}" \
    actor_rollout_ref.model.path=${"${MODEL}"} \
    actor_rollout_ref.rollout.n=${"${ROLLOUT_N}"} \
    actor_rollout_ref.rollout.multi_turn.enable=${"${NEVER_SET}"} \
    ++actor_rollout_ref.rollout.entropy_weight=0.2 \
    trainer.logger="[console, wandb]" \
    trainer.nnodes=2 \
    trainer.default_local_dir=${"${SAVE}"} \
    hydra.run.dir=out 2>&1 | tee run.log
`;

test("importScript() reads variables, quotes and overrides, and runs nothing", async () => {
  const { config, notes } = await importScript(script);
  assert.deepEqual(config, {
    algorithm: { adv_estimator: "grpo" },
    data: { train_files: ["a.parquet", "b.parquet"] },
    actor_rollout_ref: {
      model: { path: "Qwen/Qwen2.5-7B-Instruct" },
      rollout: { n: 16, entropy_weight: 0.2 },
    },
    trainer: {
      logger: ["console", "wandb"],
      nnodes: 2,
      default_local_dir: "Qwen/Qwen2.5-7B-Instruct_run",
    },
    hydra: { run: { dir: "out" } },
  });
  assert.ok(notes.some((note) => /PARENT_DIR is what a command gives/.test(note)));
  assert.ok(notes.some((note) => /\$NEVER_SET is not set/.test(note)));
  assert.ok(notes.some((note) => /--config-path=config is not read/.test(note)));
  assert.ok(notes.some((note) => /kept for a cluster.*trainer\.nnodes/.test(note)));
});

test("importScript() reads scripts that pass their own arguments on, as verl's examples do", async () => {
  for (const rest of ["$@", '"$@"', "${@}"]) {
    const { config, notes } = await importScript(
      `python3 -m verl.trainer.main_ppo trainer.nnodes=1 ${rest}`,
    );
    assert.deepEqual(config, { trainer: { nnodes: 1 } });
    assert.ok(notes.includes("$@ is not set in the script: taken as empty"), notes.join());
  }
});

test("importScript() refuses what starts no training, two of them, and keys that nobody knows", async () => {
  const command = "python3 -m verl.trainer.main_ppo trainer.nnodes=1";
  await assert.rejects(importScript("echo hello"), /must start verl .*got no such command/);
  await assert.rejects(importScript(`${command}\n${command}`), /got two commands/);
  await assert.rejects(
    importScript(`${command} actor_rollout_ref.rollout.nn=3`),
    /every key must be known, got actor_rollout_ref\.rollout\.nn/,
  );
});
