// What saveAtif writes, before Harbor's own model. ARPO_LAB_HARBOR_PYTHON names a Python with harbor.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { advantages } from "../../src/learn/advantages.js";
import { score } from "../../src/reward/score-trees.js";
import { presets } from "../../src/run/presets.js";
import { rollout } from "../../src/rollout/rollout.js";
import type { RolloutTree } from "../../src/rollout/rollout-tree.js";
import { randomTextPolicy } from "../../src/rollout/testing/random-text-policy.js";
import { saveAtif } from "../../src/formats/write/save-atif.js";
import { calculator } from "../../src/tools/calculator/calculator.js";
import { ToolSet } from "../../src/tools/tool-set.js";
import { temporaryFolder } from "../temporary.js";

const python = process.env["ARPO_LAB_HARBOR_PYTHON"];
const skip = python === undefined ? "ARPO_LAB_HARBOR_PYTHON names no Python" : false;
const script = fileURLToPath(new URL("../../../tests/python/check_atif.py", import.meta.url));

test("Harbor's own model accepts every trajectory of branched trees", { skip }, async () => {
  const path = join(temporaryFolder("atif"), "trajectories.jsonl");
  const prompt = ["system", "user", "assistant", "user"].map((role) => ({ role, content: role }));
  const tools = new ToolSet([calculator()]);
  const trees: RolloutTree[] = [];
  for (const seed of [1, 2, 3]) {
    const options = { ...presets.arpo, tools, n: 6, initialRollouts: 3, seed };
    trees.push(await rollout(randomTextPolicy(), { prompt, groundTruth: "42" }, options));
  }
  const batch = advantages(await score(trees, ({ length }) => length));
  await saveAtif(trees, path, { batch });
  const { status, stdout, stderr } = spawnSync(python!, [script, path], { encoding: "utf8" });
  assert.equal(status, 0, stderr);
  const { trajectories, steps, ids } = JSON.parse(stdout) as Record<string, number>;
  const rows = trees.flatMap((tree) => tree.trajectories);
  assert.equal(trajectories, rows.length);
  assert.ok(steps! >= 5 * rows.length);
  const sampled = trees.flatMap(({ nodes, trajectories: all }) =>
    all.flatMap((row) =>
      row.nodes.filter((id) => nodes[id]!.kind === "model").map((id) => nodes[id]!.tokens.length),
    ),
  );
  assert.equal(
    ids,
    sampled.reduce((sum, one) => sum + one, 0),
  );
});
