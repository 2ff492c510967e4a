import assert from "node:assert/strict";
import { test } from "node:test";
import { stalenessLimits } from "./limits/registry.js";
import { StalenessPlan, type StalenessOptions } from "./plan.js";

const plan = (options: StalenessOptions) => new StalenessPlan(options, 8);

/** The versions that the first batches of a run are sampled by. */
function sampledBy(options: StalenessOptions, steps: number): number[] {
  const made = plan(options);
  const [all, waiting]: number[][] = [[], []];
  let drawn = 0;
  for (let version = 0; version < steps; version++) {
    while (waiting!.length > 0 && made.drops(waiting![0]!, version)) waiting!.shift();
    const left = steps - version;
    const due = made.due({ version, waiting: waiting!.length, drawn, left });
    for (let i = 0; i < due; i++, drawn++) waiting!.push(version);
    all!.push(waiting!.shift()!);
  }
  assert.equal(waiting!.length, 0);
  return all!;
}

test("StalenessPlan draws batch b with the weights of max(0, b - async)", () => {
  for (const ahead of [0, 1, 3]) {
    const expected = [0, 1, 2, 3, 4, 5].map((b) => Math.max(0, b - ahead));
    assert.deepEqual(sampledBy({ async: ahead }, 6), expected);
  }
});

test("StalenessPlan draws as far ahead as a limit allows, by its published bound", () => {
  const ahead = (options: StalenessOptions) => plan(options).ahead;
  const published = stalenessLimits.names.map((name) => [name, ahead({ stalenessLimit: name })]);
  assert.deepEqual(Object.fromEntries(published), {
    ...{ areal: 0, skyrl: 4, "prime-rl-async": 8, "verl-one-step": 1, "verl-fully-async": 0 },
    ...{ "verl-wait": 8, "verl-drop": 8 },
  });
  assert.equal(ahead({ stalenessLimit: "areal", maxStaleness: 2 }), 2);
  // verl: 1 is about one step off; 0.1 of 4 batches is no whole one.
  assert.deepEqual(sampledBy({ stalenessThreshold: 1, syncEvery: 1 }, 4), [0, 0, 1, 2]);
  assert.deepEqual(sampledBy({ stalenessLimit: "verl-fully-async" }, 6), [0, 0, 0, 0, 4, 4]);
  assert.deepEqual(sampledBy({ syncEvery: 2, stalenessThreshold: 0.5 }, 6), [0, 0, 0, 2, 2, 4]);
});

test("StalenessPlan draws no more than a limit allows, and drops what is too old", () => {
  const areal = { async: 4, stalenessLimit: "areal", maxStaleness: 1 };
  assert.deepEqual(sampledBy(areal, 5), [0, 0, 1, 2, 3]);
  const prime = { async: 4, stalenessLimit: "prime-rl-async", maxStaleness: 2 };
  const kept = sampledBy(prime, 8);
  kept.forEach((version, b) => assert.ok(b - version <= 2));
  assert.ok(kept.some((version, b) => b - version === 2));
});

test("StalenessPlan refuses what does not go together, by the option's name", () => {
  const refused: [StalenessOptions, RegExp][] = [
    [{ maxStaleness: 2 }, /maxStaleness must be left out without stalenessLimit, got 2/],
    [{ stalenessLimit: "verl-one-step", async: 2 }, /async must be 1 with the limit verl-one-step/],
    [{ stalenessLimit: "verl-one-step", maxStaleness: 2 }, /whose bound is 1, got 2/],
    [{ stalenessLimit: "areal", stalenessThreshold: 1 }, /stalenessThreshold must be left out/],
    [{ stalenessLimit: "skyrl", syncEvery: 4 }, /syncEvery must be 1 with the limit skyrl/],
    [{ stalenessLimit: "verl-fully-async", maxStaleness: 2 }, /bound is stalenessThreshold/],
    [{ stalenessLimit: "arael" }, /must be one of areal, .* did you mean "areal"/],
  ];
  for (const [options, why] of refused) assert.throws(() => plan(options), why);
});
