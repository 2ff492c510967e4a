// A program with the `openai` package, captured by the command; its trees are opened, scored and trained on.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { importRollouts } from "../../src/formats/import-rollouts.js";
import { advantages } from "../../src/learn/advantages.js";
import { update } from "../../src/learn/update/learner.js";
import { Policy } from "../../src/policy/policies.js";
import { score } from "../../src/reward/score-trees.js";
import { loadTrees } from "../../src/rollout/files/tree-files.js";
import { tinyFolder } from "../serve/tiny-server.js";
import { temporaryFolder } from "../temporary.js";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const program = join(root, "tests/capture/program.mjs");

test("arpo-lab capture: an agent's runs are rows with rewards; the explorer reads them, update trains on them", async (t) => {
  const folder = temporaryFolder("capture");
  const out = join(folder, "trees.jsonl");
  const task = JSON.stringify({ id: "sum", question: "What is 12 + 34 - 5?" });
  const args = ["apps/cli/bin/arpo-lab.mjs", "capture", tinyFolder, "--out", out, "--runs", "6"];
  const options = ["--task", task, "--quiet", "--", process.execPath, program];
  const child = spawn(process.execPath, [...args, ...options], { cwd: root });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (said += text));
  const [status] = (await once(child, "exit")) as [number];
  assert.equal(status, 0, said);
  assert.match(said, /1 tree, \d+ trajectories, \d+ sampled tokens, mean reward [01]\./);

  const trees = await loadTrees(out);
  const rows = trees.flatMap(({ trajectories }) => trajectories);
  assert.ok(rows.length >= 6);
  assert.ok(rows.some(({ toolCalls }) => toolCalls[0]?.tag === "python"));
  const imported = await importRollouts(out);
  assert.equal(imported.trees.length, 1);

  const policy = await Policy.load(tinyFolder);
  t.after(() => policy.dispose());
  // What was recorded is what the model says of these tokens: ids, masks and places are right.
  const [first] = rows;
  const [scored] = await policy.logProbs!([{ prompt: first!.prompt, tokens: first!.tokens }]);
  first!.tokens.forEach((_, i) => {
    if (first!.lossMask[i] === 0) return;
    assert.ok(Math.abs(scored!.logprobs[i]! - first!.logprobs[i]!) < 1e-3, `token ${i}`);
    assert.ok(Math.abs(scored!.entropies[i]! - first!.entropies[i]!) < 1e-3, `token ${i}`);
  });
  const judged = await score(trees, ({ tree }) => tree!.trajectory % 2);
  const report = await update(policy, advantages(judged), { learningRate: 1e-4 });
  assert.ok(Object.keys(report.metrics).length > 0);
});
