import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { temporaryFolder } from "../../../tests/temporary.js";
import { RunFolder } from "../folder/run-folder.js";
import { compareAt } from "./compare-at.js";
import { equivalence, holm, pairedStatistics, seedsFor, tBelow, tQuantile } from "./paired.js";

const near = (got: number, wanted: number, by = 1e-9) =>
  assert.ok(Math.abs(got - wanted) <= by, `${got} is not ${wanted}`);

test("Student's t: closed forms of one and two degrees, and the tables of ten and thirty", () => {
  for (const t of [-3, -0.2, 0, 0.5, 12.7]) {
    near(tBelow(t, 1), 0.5 + Math.atan(t) / Math.PI, 1e-13);
    near(tBelow(t, 2), 0.5 + t / (2 * Math.sqrt(2 + t * t)), 1e-13);
  }
  near(tQuantile(0.975, 10), 2.228138852, 1e-8);
  near(tQuantile(0.975, 30), 2.042272456, 1e-8);
  near(tQuantile(0.975, 1e7), 1.959964, 1e-5);
  near(tQuantile(0.2, 4), -tQuantile(0.8, 4), 1e-13);
});

test("pairedStatistics() of differences worked out by hand", () => {
  // Mean 2, deviation 1, standard error 1 / sqrt(3), t 3.4641 at two degrees: p = 1 - t / sqrt(2 + t^2).
  const found = pairedStatistics([1, 2, 3]);
  near(found.mean, 2);
  near(found.deviation, 1);
  near(found.high - found.mean, 4.302652729911275 / Math.sqrt(3));
  near(found.p, 1 - Math.sqrt(12 / 14));
  assert.deepEqual(found.bootstrap, pairedStatistics([1, 2, 3]).bootstrap);
  // Of 27 draws one is all 1 and one all 3: both lie beyond 2.5%.
  near(found.bootstrap.low, 1);
  near(found.bootstrap.high, 3);
  // Margin 3: t is (2 - 3) sqrt(3) on one side, which decides.
  near(equivalence(found, 3), 0.5 - Math.sqrt(3) / (2 * Math.sqrt(5)));
  assert.equal(equivalence(pairedStatistics([0, 0, 0]), 0.1), 0);
  assert.equal(pairedStatistics([0.5, 0.5]).p, 0);
  assert.ok(Number.isNaN(pairedStatistics([1]).p));
});

test("holm() and seedsFor() by hand", () => {
  assert.deepEqual(holm([0.01, 0.04, 0.03]), [0.03, 0.06, 0.06]);
  assert.deepEqual(holm([0.6, 0.9]), [1, 1]);
  assert.deepEqual(holm([0.02, NaN]), [0.02, NaN]);
  // (1.96 + 0.84)^2 (sd / d)^2 is 31.4 with the normal's quantiles, two more with Student's.
  assert.equal(seedsFor(0.1, 0.05, 0.8), 34);
});

const run = (values: readonly number[], tokens = 1000) =>
  values.map((value, step) => ({
    step,
    ...(step === 0 ? {} : { "cost/tokens": tokens * step, "cost/calls": 10 * step }),
    "val-core/calc/reward/mean@1": value,
    "val-core/lookup/reward/mean@1": value + 0.2,
  }));

test("compareAt() reads values between two measurements and pairs them by seed", async () => {
  const folder = await temporaryFolder("arpo-compare");
  // The same seeds in another order: pairs are found by what the folders say.
  const made: Record<string, string[]> = { a: [], b: [] };
  for (const [arm, seed, values] of [
    ["a", 1, [0, 0.4, 0.6]],
    ["a", 2, [0, 0.2, 0.4]],
    ["b", 2, [0, 0.3, 0.7]],
    ["b", 1, [0, 0.6, 0.8]],
  ] as const) {
    const path = join(folder, `${arm}-${seed}`);
    const to = await RunFolder.open(path);
    for (const line of run(values)) await to.appendMetrics(line);
    await writeFile(join(path, "config.yaml"), `lab: { seed: ${seed} }\n`);
    made[arm]!.push(path);
  }
  const found = await compareAt(made, { at: 1500, margin: 0.5 });
  const [a, b] = found.arms;
  near(a!.values.get(1)!, 0.6);
  near(b!.values.get(2)!, 0.6);
  const [d] = found.differences;
  near(d!.mean, 0.2);
  near(d!.deviation, 0);
  assert.deepEqual([d!.arm, d!.against, d!.n], ["b", "a", 2]);
  assert.match(String(found), /held-out score at 1,500 tokens[^]*b - a +2 +0\.2/);
  near((await compareAt(made, { x: "calls", at: 5 })).arms[0]!.values.get(1)!, 0.3);
  near((await compareAt(made, { x: "steps", at: 2 })).differences[0]!.mean, 0.25);
  await assert.rejects(
    compareAt(made, { at: 2500 }),
    /Cannot compare at 2500 tokens: a, seed 1 must have measured .* got measurements from 0 to 2000/,
  );
});

test("compareAt() corrects for all comparisons, and rounds to what the intervals support", async () => {
  const at = (...ends: number[]) => ends.map((end) => run([0, end]));
  const runs = { a: at(0.5, 0.6, 0.55), b: at(0.61, 0.7, 0.66), c: at(0.5, 0.61, 0.52) };
  const found = await compareAt(runs, { at: 1000, against: "a", margin: 0.03 });
  const [b, c] = found.differences;
  near(b!.pHolm, 2 * b!.p);
  near(c!.pHolm, c!.p);
  assert.ok(b!.pEquivalent! > 0.9 && b!.seedsFor(0.05) >= 2);
  assert.match(String(found), /b - a +3 +0\.107 ± 0\.014 /);
  await assert.rejects(
    compareAt(runs, { at: 1, against: "d" }),
    /against must be one of a, b, c, got d/,
  );
  await assert.rejects(compareAt({ a: [run([0, 1])], b: [] }, { at: 500 }), /must share a seed/);
});

test("compareAt() names what is missing", async () => {
  await assert.rejects(
    compareAt({}, { at: 1 }),
    /Cannot compare runs: runs must have at least one setting, got none$/,
  );
  await assert.rejects(
    compareAt({ a: [] }, { at: 1, against: "toString" }),
    /Cannot compare runs: against must be one of a, got toString$/,
  );
});
