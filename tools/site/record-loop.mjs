// Records the loop that the package ships, data/loop.json, byte for byte: `node tools/site/record-loop.mjs`. A rollout in
// which right answers come from sound reasoning and a branch changes the outcome, and 24 updates on its question and
// three others. On the wasm engine, whose digits are the same on every machine. `--check` compares.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

process.env.ARPO_LAB_BACKEND = "wasm";
const root = fileURLToPath(new URL("../..", import.meta.url));
const from = (path) => import(new URL(`../../dist/src/api/${path}`, import.meta.url).href);
const { Policy, tasks, taskTools, world } = await from("index.js");
const { theLoop } = await from("view.js");

const policy = await Policy.load(join(root, "data/models/tiny"));
const tools = taskTools(world);
const { train } = tasks.mixed({ seed: 7 });
const loop = await theLoop(policy, train[5], {
  ...{ tools, steps: 24, others: train.slice(20, 92), seed: 5, responseLength: 160 },
  ...{ entropyTiming: "after-result", entropyWeight: 0.5 },
});
await tools.dispose();
console.log(loop.summary);
const path = join(root, "data/loop.json");
if (!process.argv.includes("--check")) await loop.save(path);
else if (readFileSync(path, "utf8") !== `${JSON.stringify(loop.payload)}\n`) {
  console.error("data/loop.json is another recording: node tools/site/record-loop.mjs");
  process.exitCode = 1;
} else console.log("data/loop.json is this recording, byte for byte");
