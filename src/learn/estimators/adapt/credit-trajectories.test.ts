import assert from "node:assert/strict";
import { test } from "node:test";
import { Scored } from "../../../reward/scored.js";
import { rollout } from "../../../rollout/rollout.js";
import type { RolloutOptions } from "../../../rollout/options.js";
import { randomTextPolicy } from "../../../rollout/testing/random-text-policy.js";
import { calculator } from "../../../tools/calculator/calculator.js";
import { ToolSet } from "../../../tools/tool-set.js";
import { presets } from "../../../run/presets.js";
import { advantages } from "../../advantages.js";
import { creditTrajectories, familyOf } from "./credit-trajectories.js";

const tools = new ToolSet([calculator()], { callLimit: 4 });
const right = (text: string) => text.length % 2 === 0;
const small: Partial<Record<keyof typeof presets, RolloutOptions>> = {
  fr3e: { n: 12, expand: { points: 2, rows: 2 } },
  treepo: { expand: { segment: 8 } },
  "spo-tree": { n: 12, expand: { segment: 8, factors: [3, 2, 2] } },
  "tree-grpo": { n: 4, expand: { points: 3, keep: 2 } },
};
const methods = ["tree-grpo", "at2po", "treerl", "appo", "fr3e", "treepo", "spo-tree"] as const;

async function scoredTrees(name: (typeof methods)[number], seed: number) {
  const trees = await rollout(randomTextPolicy(), [{ prompt: "a" }, { prompt: "b" }], {
    ...presets[name],
    ...small[name],
    ...{ tools, seed, responseLength: 200 },
    judge: (trajectories) => trajectories.map(({ text }) => right(text)),
  });
  const trajectories = trees.flatMap((tree) =>
    tree.selected.map((trajectory) => ({
      trajectory,
      group: String(tree.index),
      score: { score: Number(right(trajectory.text)), reason: "" },
    })),
  );
  return new Scored(trajectories, trees);
}

for (const name of methods) {
  test(`${name}: its tree has what its own credit needs, and the advantages differ`, async () => {
    let differ = 0;
    for (let seed = 0; seed < 6; seed++) {
      const scored = await scoredTrees(name, seed);
      const { trajectories } = advantages(scored, presets[name]);
      const all = trajectories.flatMap((trajectory) => [...trajectory.advantages]);
      assert.ok(all.every(Number.isFinite));
      if (new Set(all.filter((a) => a !== 0)).size > 1) differ++;
    }
    assert.ok(differ > 3, `${differ} of 6`);
  });
}

test("trajectories of one initial trajectory are one family although it was not kept itself", async () => {
  let pruned = 0;
  for (let seed = 0; seed < 12; seed++) {
    const { trajectories, trees } = await scoredTrees("tree-grpo", seed);
    const family = familyOf(
      creditTrajectories(
        new Scored(trajectories, trees),
        trajectories.map(() => [0]),
      ),
    );
    for (const [i, tree] of trees.entries()) {
      const own = trajectories.flatMap((trajectory, at) =>
        trajectory.group === String(i) ? [at] : [],
      );
      assert.equal(new Set(own.map(family)).size, 2);
      const kept = new Set(tree.selection);
      if (![0, 1].every((trajectory) => kept.has(trajectory))) pruned++;
    }
  }
  assert.ok(pruned > 0);
});
