import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { assemble } from "../../../src/run/trainer/assemble.js";
import { train } from "../../../src/run/trainer/train.js";
import { configKeys } from "../../../src/run/config/keys.js";
import { loadConfig } from "../../../src/run/config/load.js";
import type { Config } from "../../../src/run/config/schema.js";

/** The configuration as it is, writing down which keys are looked at. */
function watched<T extends object>(value: T, seen: Set<string>, path = ""): T {
  return new Proxy(value, {
    get(target, key) {
      // Saving the whole configuration is no use of any key.
      if (key === "toJSON") return () => target;
      const found: unknown = Reflect.get(target, key);
      if (typeof key === "symbol" || !Object.hasOwn(target, key)) return found;
      const below = path ? `${path}.${key}` : key;
      seen.add(below);
      const section = typeof found === "object" && found !== null && !Array.isArray(found);
      return section ? watched(found, seen, below) : found;
    },
  });
}

test("every key that is not kept for export is looked at by a run", async () => {
  const folder = await mkdtemp(join(tmpdir(), "arpo-lab-keys-"));
  const seen = new Set<string>();
  const file = join(folder, "tasks.jsonl");
  await writeFile(file, `${JSON.stringify({ question: "1+1?", answer: "2" })}\n`);
  const runs = [
    [
      "algorithm.adv_estimator=gae",
      "algorithm.kl_ctrl.type=adaptive",
      `data.train_files=${file}`,
      "trainer.total_training_steps=null",
      "trainer.total_epochs=1",
    ],
    [
      "actor_rollout_ref.actor.use_kl_loss=true",
      "actor_rollout_ref.actor.kl_loss_coef=0.1",
      "actor_rollout_ref.model.lora_rank=2",
    ],
  ];
  for (const [i, own] of runs.entries()) {
    const { config } = await loadConfig({
      preset: ["arpo", "tiny"],
      overrides: [
        "actor_rollout_ref.rollout.tools.tool_instances.python.class_path=calculator",
        "data.train_batch_size=1",
        "data.max_response_length=24",
        "data.val_files=tasks:calc?test=1",
        "data.filter_overlong_prompts=true",
        "actor_rollout_ref.rollout.n=2",
        "actor_rollout_ref.rollout.initial_rollouts=1",
        "actor_rollout_ref.rollout.enable_dynamic_rollouts=true",
        "trainer.total_training_steps=1",
        "algorithm.use_kl_in_reward=true",
        ...own,
      ],
    });
    const parts = await assemble(watched<Config>(config, seen));
    await train(parts, { folder: join(folder, String(i)) });
    await parts.tools.dispose();
  }
  await rm(folder, { recursive: true });
  // What only the command line looks at, and what is linked to another key's default.
  for (const key of ["default_local_dir", "logger", "project_name", "experiment_name"]) {
    seen.add(`trainer.${key}`);
  }
  seen.add("data.max_response_length");
  seen.add("lab.stuck_after"); // the watchdog's, which watches whole processes
  seen.add("lab.group"); // a logger's, as the names above
  const unread = configKeys().filter(({ kept, path }) => !kept && !seen.has(path));
  assert.deepEqual(
    unread.map(({ path }) => path),
    [],
  );
  const wasted = configKeys().filter(({ kept, path }) => kept && seen.has(path));
  assert.deepEqual(
    wasted.map(({ path }) => path),
    [],
    "kept keys must have no effect",
  );
});
