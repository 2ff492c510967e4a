import { join } from "node:path";
import { packagePath } from "#platform/modules";
import { advantages } from "../../learn/advantages.js";
import type { TrainingBatch } from "../../learn/batch.js";
import { update } from "../../learn/update/learner.js";
import { Policy } from "../../policy/policies.js";
import { score } from "../../reward/score-trees.js";
import type { Scored } from "../../reward/scored.js";
import { saveTrees } from "../../rollout/files/tree-files.js";
import { rollout } from "../../rollout/rollout.js";
import type { RolloutTree } from "../../rollout/rollout-tree.js";
import { RunFolder } from "../../run/folder/run-folder.js";
import { taskTools } from "../../tasks/task-tools.js";
import { mixed } from "../../tasks/tasks/mixed.js";
import { world } from "../../tasks/tasks/world.js";

/** What a run of a few steps left in a folder, and one of its trees. */
interface SampleRun {
  /** Step 3's: the checkpoint of step 2 sampled it. */
  tree: RolloutTree;
  scored: Scored;
  batch: TrainingBatch;
}

/** Trains the smallest model for four steps on one question, with a checkpoint after each, and one more folder with one alone. */
export async function sampleRunFolder(path: string, alone?: string): Promise<SampleRun> {
  const policy = await Policy.load(packagePath("data/models/tiny"));
  const tools = taskTools(world);
  const task = mixed({ seed: 7 }).train[5]!;
  const run = await RunFolder.open(path);
  let made: SampleRun | undefined;
  for (let step = 1; step <= 4; step++) {
    const how = { n: 8, initialRollouts: 4, responseLength: 200, seed: step, keepTop: true };
    const tree = await rollout(policy, task, { preset: "arpo", tools, ...how });
    const scored = await score(tree);
    const batch = advantages(scored, { estimator: "grpo" });
    if (step === 3) made = { tree, scored, batch };
    await saveTrees(join(path, "rollouts", `${step}.jsonl`), [tree]);
    await update(policy, batch, { preset: "arpo", learningRate: 5e-4 });
    await run.appendMetrics({ step, "critic/score/mean": scored.mean });
    await run.checkpoint(step, (to) => policy.save(join(to, "actor")));
  }
  if (alone !== undefined) {
    const one = await RunFolder.open(alone);
    await one.appendMetrics({ step: 4 });
    await one.checkpoint(4, (to) => policy.save(join(to, "actor")));
  }
  await tools.dispose();
  policy.dispose();
  return made!;
}
