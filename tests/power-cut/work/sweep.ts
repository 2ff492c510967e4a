// Sweeps two runs, one after the other. A run is acknowledged when the sweep says that it is done.
import { join } from "node:path";
import { sweep } from "../../../src/run/sweep/sweep.js";
import { acknowledge, folder } from "./acknowledge.js";

const done = new Set<number>();
const runs = await sweep({
  folder: join(folder, "sweep"),
  seeds: [1, 2],
  preset: "tiny",
  arms: {
    one: [
      "data.train_files=tasks:calc?train=2",
      "data.val_files=tasks:calc?test=1",
      "data.train_batch_size=1",
      "data.max_response_length=8",
      "actor_rollout_ref.rollout.n=2",
      "actor_rollout_ref.rollout.initial_rollouts=2",
      "actor_rollout_ref.actor.ppo_mini_batch_size=1",
      "actor_rollout_ref.rollout.tools.tool_instances.python.class_path=calculator",
      "trainer.total_training_steps=2",
      "trainer.save_freq=1",
      "trainer.max_actor_ckpt_to_keep=1",
      "trainer.test_freq=-1",
      "trainer.val_before_train=false",
    ],
  },
  ...{ live: false, processes: 1 },
  // Told once it is written down that the run is done.
  onChange: ({ runs }) => {
    for (const { state, seed } of runs) {
      if (state !== "done" || done.has(seed)) continue;
      done.add(seed);
      acknowledge(seed);
    }
  },
});
if (runs.failed.length > 0) throw new Error(runs.failed[0]!.error);
