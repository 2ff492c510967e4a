import assert from "node:assert/strict";
import { test } from "node:test";
import { smallParts } from "./testing/small-run.js";
import { Trainer } from "./trainer.js";

// The trainer scores the first trajectories for rules that choose by outcomes: there are fewer of them than n.
for (const [rule, n, overrides] of [
  ["redraw", 6, ["lab.expand.signal=group-mixed"]],
  ["fr3e", 12, ["lab.expand.points=2", "lab.expand.rows=2"]],
] as const) {
  test(`a training step rolls out by ${rule}, which is told outcomes`, async () => {
    const parts = await smallParts([
      `lab.branch_rule=${rule}`,
      `actor_rollout_ref.rollout.n=${n}`,
      "actor_rollout_ref.rollout.initial_rollouts=3",
      ...overrides,
    ]);
    const { trees } = await new Trainer(parts).next();
    const branches = trees.flatMap(({ trajectories }) =>
      trajectories.filter(({ kind }) => kind === "branch"),
    );
    assert.ok(branches.length > 0);
    for (const { chosen } of branches) assert.ok(Number.isFinite(chosen!.score));
  });
}
