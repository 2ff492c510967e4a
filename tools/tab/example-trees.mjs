// Grows the trees that the explorer's page has for an example: data/rollouts/arpo-trees.jsonl.
import { join } from "node:path";
import { worldPages } from "../../dist/src/api/run.js";
import { Policy, rollout, saveTrees, tasks } from "../../dist/src/api/index.js";
import { ToolSet, world } from "../../dist/src/api/index.js";
import { calculator, offlineSearch, searchTool } from "../../dist/src/api/tools.js";
import { root } from "./bundle.mjs";

const policy = await Policy.load(join(root, "data/models/tiny"));
const pages = worldPages(world);
const tools = new ToolSet([
  calculator({ tag: "python" }),
  searchTool({ provider: offlineSearch({ pages }), maxResults: 3 }),
]);
const { train } = tasks.multihop({ seed: 2 });
const options = { preset: "arpo", n: 8, initialRollouts: 4, responseLength: 256, seed: 1, tools };
const trees = [];
for (const task of [train[0], train[9]]) trees.push(await rollout(policy, task, options));
await saveTrees(join(root, "data/rollouts/arpo-trees.jsonl"), trees);
await tools.dispose();
