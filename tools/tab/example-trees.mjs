// Grows the trees that the explorer's page has for an example: data/rollouts/arpo-trees.jsonl. Right answers in them come
// from what was read, and a branch changes the outcome. On the wasm engine, which is the one of tabs, so that "Run again"
// makes the same bytes there.
import { join } from "node:path";
import { root } from "./bundle.mjs";

process.env.ARPO_LAB_BACKEND = "wasm";
const { Policy, rollout, saveTrees, tasks, taskTools, world } =
  await import("../../dist/src/api/index.js");

const policy = await Policy.load(join(root, "data/models/tiny"));
const tools = taskTools(world);
const { train } = tasks.mixed({ seed: 7 });
const options = { preset: "arpo", n: 8, initialRollouts: 4, responseLength: 256, tools };
const trees = [];
for (const [task, seed] of [
  [21, 2],
  [16, 1],
])
  trees.push(await rollout(policy, train[task], { ...options, seed }));
await saveTrees(join(root, "data/rollouts/arpo-trees.jsonl"), trees, { timing: false });
await tools.dispose();
