import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { checkConfig } from "../../src/doctor/check-config.js";
import { loadConfig } from "../../src/run/config/load.js";
import { smallParts } from "../../src/run/trainer/testing/small-run.js";
import { train } from "../../src/run/trainer/train.js";

const folder = await mkdtemp(join(tmpdir(), "arpo-lab-own-rule-"));
after(() => rm(folder, { recursive: true }));
const file = join(folder, "halves.ts");
await writeFile(
  file,
  `
  export const halves = {
    name: "halves-of-file", title: "Halves", words: "in the middle of every first trajectory",
    settings: {},
    choose: (_: object, chains: { id: number; length: number }[]) =>
      chains.map(({ id, length }) => ({ trajectory: id, at: Math.floor(length / 2), score: 0 })),
    why: () => "the middle",
    advice: ({ rule }: { rule: string }) => [{ id: "own-rule", status: "note", found: rule + " is my own" }],
  };
  `,
);
const rule = `lab.branch_rule=${file}#halves`;

test("a run branches by a rule from a file, and resumes with it from what its folder records", async () => {
  const steps = ["trainer.total_training_steps=2", "trainer.val_before_train=false"];
  const shape = ["++actor_rollout_ref.rollout.n=4", "actor_rollout_ref.rollout.initial_rollouts=2"];
  const run = join(folder, "run");
  const parts = await smallParts([rule, ...shape, ...steps, "trainer.test_freq=-1"]);
  const trainer = await train(parts, { folder: run, warn: () => undefined });
  assert.equal(trainer.step, 2);
  const trees = await readFile(join(run, "rollouts/1.jsonl"), "utf8");
  const tree = JSON.parse(trees.split("\n")[0]!) as {
    config: { rule: string };
    trajectories: { kind: string }[];
  };
  assert.equal(tree.config.rule, "halves-of-file");
  const kinds = tree.trajectories.map(({ kind }) => kind);
  assert.deepEqual(kinds, ["initial", "initial", "branch", "branch"]);
  const recorded = await loadConfig({ files: [join(run, "config.yaml")] });
  assert.equal(recorded.config.lab.branch_rule, `${file}#halves`);
  recorded.config.trainer.total_training_steps = 3;
  const again = await smallParts([]);
  const resumed = await train(
    { ...again, config: recorded.config },
    { folder: run, warn: () => undefined },
  );
  assert.equal(resumed.step, 3);
  await rm(file);
  await assert.rejects(
    loadConfig({ overrides: [`lab.branch_rule=${join(folder, "gone.ts")}#halves`] }),
    /Cannot load a rule: .*gone.ts must be a module that loads, got /,
  );
});

test("doctor says what a definition from a file advises", async () => {
  const checks = await checkConfig({ preset: ["arpo", "tiny"], overrides: [rule] });
  const own = checks.find(({ id }) => id.includes("own-rule"));
  assert.ok(own?.found.includes("halves-of-file is my own"), JSON.stringify(checks));
});
