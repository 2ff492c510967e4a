// Records the tree of the landing page, which is the one of lesson 00: apps/site/landing/tree.jsonl.
import { join } from "node:path";
import { Policy, rollout, saveTrees, tasks, taskTools, world } from "../../dist/src/api/index.js";
import { root } from "../tab/bundle.mjs";

const policy = await Policy.load(join(root, "data/models/tiny"));
const tools = taskTools(world);
const task = tasks.mixed({ seed: 3 }).train[0];
const options = { preset: "arpo", tools, n: 16, initialRollouts: 8, responseLength: 160, seed: 1 };
const tree = await rollout(policy, task, options);
await saveTrees(join(root, "apps/site/landing/tree.jsonl"), [tree]);
await tools.dispose();
