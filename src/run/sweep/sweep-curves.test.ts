import assert from "node:assert/strict";
import { test } from "node:test";
import { studentInterval } from "../../eval/metrics/interval.js";
import { sweepCurves } from "./sweep-curves.js";
import { type SweepRun, sweepStatus } from "./sweep-runs.js";

const held = "val-core/calc/reward/mean@1";

/** A run under way whose held-out score rises with its tokens, validated at every step. */
const run = (arm: string, seed: number, steps: number, rise: number): SweepRun => ({
  ...{ arm, seed, folder: `${arm}/${seed}`, state: "running", step: steps, log: "" },
  ...{ progress: steps / 4, last: {} },
  lines: Array.from({ length: steps + 1 }, (_, step) => ({
    step,
    "critic/score/mean": 0.1,
    [held]: rise * step,
    // Nothing is told of the cost before the first step.
    ...(step === 0 ? {} : { "cost/tokens": 1000 * seed * step }),
  })),
});

test("sweepCurves() has a curve for each arm: the mean of the seeds that have come so far, over tokens", () => {
  const runs = [run("fresh", 1, 4, 0.1), run("fresh", 2, 1, 0.4), run("trees", 1, 2, 0.2)];
  const { title, x, curves } = sweepCurves(runs)!;
  assert.deepEqual([title, x], ["held-out score", "tokens"]);
  const [fresh, trees] = curves;
  assert.deepEqual(
    [fresh!.name, fresh!.seeds, fresh!.x],
    ["fresh", 1, [0, 1000, 2000, 3000, 4000]],
  );
  // At 1,000 tokens the second seed is in the middle of its first step.
  const { mean, half } = studentInterval([0.1, 0.2]);
  assert.ok(Math.abs(fresh!.y[1]! - mean) < 1e-5);
  assert.ok(Math.abs(fresh!.high[1]! - mean - half) < 1e-4);
  // The second seed has not come to 3,000 tokens: one seed has no interval.
  assert.deepEqual([fresh!.y[3], fresh!.low[3], fresh!.high[4]], [0.3, null, null]);
  assert.deepEqual([trees!.x, trees!.y, trees!.seeds], [[0, 1000, 2000], [0, 0.2, 0.4], 1]);
  assert.deepEqual(sweepStatus(runs, undefined).curves, { title, x, curves });
});

test("sweepCurves() follows compareAt's metric and cost, and says when it shows another score", () => {
  const runs = [run("fresh", 1, 3, 0.1), run("trees", 1, 0, 0.1)];
  const other = sweepCurves(runs, { x: "steps", metric: "critic/score/mean" })!;
  assert.deepEqual([other.title, other.x], ["score of the rollouts", "steps"]);
  assert.deepEqual(other.curves[0]!.x, [0, 1, 2, 3]);
  const unvalidated = runs.map((one) => ({
    ...one,
    lines: one.lines!.filter(({ step }) => step > 0).map((line) => ({ ...line, [held]: NaN })),
  }));
  const { title, curves } = sweepCurves(unvalidated)!;
  assert.deepEqual([title, curves.map(({ x }) => x.length)], ["score of the rollouts", [3, 0]]);
  assert.equal(sweepCurves([run("trees", 1, 0, 0.1)]), undefined);
});

test("sweepCurves() keeps long runs to as many places as can be seen, the last one among them", () => {
  const { curves } = sweepCurves([run("fresh", 1, 1234, 0.1)])!;
  assert.ok(curves[0]!.x.length <= 100);
  assert.equal(curves[0]!.x.at(-1), 1_234_000);
});
