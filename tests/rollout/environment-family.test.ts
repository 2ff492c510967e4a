import assert from "node:assert/strict";
import { test } from "node:test";
import { expansionRules } from "../../src/rollout/rules/registry.js";
import { rollout } from "../../src/rollout/rollout.js";
import type { RolloutOptions } from "../../src/rollout/options.js";
import { CloneableDice, counts, Dice, gambler } from "./dice.js";

const tasks = ["a", "b"].map((prompt) => ({ prompt, id: `task-${prompt}` }));

for (const rule of expansionRules) {
  test(`${rule}: trajectories that are left anywhere stand in the state that their calls lead to`, async () => {
    const options: RolloutOptions = {
      ...{ rule, seed: 3, callLimit: 12, responseLength: 400 },
      ...(rule === "fr3e" ? { expand: { rows: 2 } } : {}),
      ...(rule === "treepo" ? { n: 8, expand: { segment: 24 } } : {}),
      ...(rule === "spo-tree" ? { expand: { segment: 24, factors: [2, 2, 2] } } : {}),
      judge: (trajectories) => trajectories.map(({ id }) => id % 2 === 0),
    };
    const before = { ...counts };
    const trees = await rollout(gambler(), tasks, {
      ...options,
      environment: () => new Dice(),
    });
    const cloned = await rollout(gambler(), tasks, {
      ...options,
      environment: () => new CloneableDice(),
    });
    assert.deepEqual(
      cloned.map(({ trajectories }) => trajectories),
      trees.map(({ trajectories }) => trajectories),
    );
    let throws = 0;
    for (const tree of trees) {
      for (const { leaf, outcome } of tree.trajectories) {
        const bets = tree.path(leaf).filter(({ tool }) => tool?.tag === "bet" && tool.ok).length;
        assert.equal(outcome!.parts!["throws"], bets);
        throws += bets;
      }
    }
    assert.ok(throws > 0);
    assert.equal(counts.made - before.made, counts.disposed - before.disposed);
  });
}
