import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";
import { judgedTrajectory } from "../../reward/judged-trajectory.js";
import { loadReward } from "../../reward/load-reward.js";
import { groupScores } from "../../reward/reward-function.js";
import { loadTools } from "../../tools/load-tools.js";
import { importModule } from "./import-module.js";

const folder = mkdtempSync(join(tmpdir(), "arpo-lab-modules-"));
after(() => rmSync(folder, { recursive: true }));

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

test("loadReward() reads TypeScript that imports arpo-lab and a neighbour from any folder", async () => {
  file("weights.ts", "export enum Weight { full = 1, half }\n");
  const path = file(
    "reward.ts",
    `import { deepResearch, type JudgedTrajectory } from "arpo-lab/learn";
     import { Weight } from "./weights.js";
     export const compute_score = (judged: JudgedTrajectory): number =>
       deepResearch(judged).score * Weight.half;`,
  );
  const reward = await loadReward(path);
  const response = "<think>hm</think><answer>\\boxed{Oslo}</answer>";
  const [scored] = await groupScores(
    reward,
    [judgedTrajectory({ response, groundTruth: "Oslo" })],
    { signal: new AbortController().signal },
  );
  assert.equal(scored!.score, 2);
});

test("loadTools() reads a tool written in TypeScript", async () => {
  const path = file(
    "tool.mts",
    `import type { Tool } from "arpo-lab";
     const tool: Tool = { name: "up", tag: "up", description: "", execute: (text) => text.toUpperCase() };
     export default tool;`,
  );
  await using tools = await loadTools({ tool_instances: { up: { class_path: path, params: {} } } });
  assert.equal((await tools.call("up", "oslo")).text, "OSLO");
});

test("importModule() names the line of a mistake, and what is missing", async () => {
  const path = file("broken.ts", "const a = 1;\nconst b: = 2;\n");
  await assert.rejects(importModule(pathToFileURL(path).href), /broken\.ts:2 has an error/);
  await assert.rejects(loadReward(path), /Cannot load a reward: .*broken\.ts.*broken\.ts:2/s);
  await assert.rejects(loadReward(join(folder, "none.ts")), /Cannot load a reward: .*none\.ts/);
  const needy = file("needy.ts", `import "no-such-package";`);
  await assert.rejects(loadReward(needy), /no-such-package/);
});
