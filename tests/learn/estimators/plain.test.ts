import assert from "node:assert/strict";
import { test } from "node:test";
import { Random } from "../../../src/base/random/random.js";
import { gae } from "../../../src/learn/estimators/plain/gae.js";
import { grpoPassAtK } from "../../../src/learn/estimators/plain/grpo-passk.js";
import { grpo } from "../../../src/learn/estimators/plain/grpo.js";
import { rloo } from "../../../src/learn/estimators/plain/rloo.js";
import { whiten } from "../../../src/learn/masked.js";

test("gae() agrees with the sum over future deltas", () => {
  const random = Random.from(4);
  const row = () => Array.from({ length: 6 }, () => random.normal());
  const [rewards, values] = [
    [row(), row()],
    [row(), row()],
  ];
  const mask = [
    [1, 1, 1, 1, 1, 1],
    [1, 1, 0, 0, 1, 1],
  ];
  const [gamma, lambda] = [0.97, 0.9];
  for (const results of [false, true]) {
    // The tokens that are steps: for gae those that the model wrote, with nothing between them.
    const counts = (i: number, t: number) => results || mask[i]![t] === 1;
    const steps = rewards.map((r, i) => [...r.keys()].filter((t) => counts(i, t)));
    const raw = rewards.map((r, i) =>
      r.map((_, from) => {
        const ahead = steps[i]!.filter((t) => t >= from);
        return ahead.reduce((sum, t, l) => {
          const next = l + 1 < ahead.length ? values[i]![ahead[l + 1]!]! : 0;
          return sum + (gamma * lambda) ** l * (r[t]! + gamma * next - values[i]![t]!);
        }, 0);
      }),
    );
    const { advantages, returns } = gae({ rewards, values, mask }, { gamma, lambda, results });
    const expected = whiten(raw, mask);
    raw.forEach((r, i) => {
      r.forEach((a, t) => {
        assert.ok(Math.abs(returns[i]![t]! - (a + values[i]![t]!)) < 1e-12);
        assert.ok(Math.abs(advantages[i]![t]! - expected[i]![t]!) < 1e-12);
      });
    });
  }
});

test("grpo() gives 0 to a group whose scores are all equal and keeps a lone score", () => {
  const { advantages } = grpo({
    rewards: [[1], [1], [0.4]],
    mask: [[1], [1], [1]],
    groups: ["a", "a", "b"],
  });
  assert.deepEqual(
    advantages.map((row) => row[0]!.toFixed(5)),
    ["0.00000", "0.00000", "0.40000"],
  );
});

test("grpo() leaves nothing of equal scores that their sum would round", () => {
  // 0.1 nine times, added one by one, is not 0.9: the rest would be divided by epsilon.
  const rows = (value: number, n: number) => Array.from({ length: n }, () => [value]);
  for (const [score, n] of [
    [0.8, 8],
    [1.1, 5],
    [0.1, 16],
  ] as const) {
    const groups = rows(1, n).map(() => "g");
    const { advantages } = grpo({ rewards: rows(score, n), mask: rows(1, n), groups });
    for (const [value] of advantages)
      assert.ok(Math.abs(value!) < 1e-12, `${score} ${n}: ${value}`);
  }
});

test("rloo() sums to zero in each group, whatever order its trajectories come in", () => {
  const rewards = [[0.2], [1], [0.7], [0], [0.5]];
  const { advantages } = rloo({ rewards, mask: rewards.map(() => [1]), groups: [0, 1, 0, 1, 0] });
  assert.ok(Math.abs(advantages[0]![0]! + advantages[2]![0]! + advantages[4]![0]!) < 1e-12);
});

test("whiten() and grpoPassAtK() refuse what has no deviation", () => {
  assert.throws(() => whiten([[1, 2]], [[1, 0]]), /must keep at least 2 tokens, got 1/);
  assert.throws(
    () => grpoPassAtK({ rewards: [[1]], mask: [[1]], groups: ["q7"] }),
    /at least 2 trajectories, got 1 in q7/,
  );
});
