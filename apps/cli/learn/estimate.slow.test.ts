import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { estimate, RunEstimate } from "../../../src/doctor/estimate/estimate.js";
import { assemble } from "../../../src/run/trainer/assemble.js";
import { loadConfig } from "../../../src/run/config/load.js";
import { Trainer } from "../../../src/run/trainer/trainer.js";

const overrides = [
  "data.train_files=tasks:mixed?train=64",
  "data.val_files=tasks:mixed?test=8",
  "data.train_batch_size=8",
  "actor_rollout_ref.actor.ppo_mini_batch_size=4",
  "trainer.total_training_steps=3",
];

test("an estimate of a run is what the run then takes: trajectories, tokens and calls; times are told", async (t) => {
  const { config } = await loadConfig({ preset: ["arpo", "tiny"], overrides });
  const parts = await assemble(config);
  const before = parts.policy.model.version;
  const weights = [...parts.policy.model.trainable.values()].map((value) =>
    value.dataSync().slice(),
  );
  const expected = await estimate(parts, { prompts: 4 });
  assert.ok(parts.policy.model.version >= before);
  for (const [i, value] of [...parts.policy.model.trainable.values()].entries()) {
    assert.deepEqual(value.dataSync(), weights[i], "an estimate moves no weight");
  }
  const trainer = new Trainer(parts);
  const found = { rows: 0, written: 0, results: 0, prompts: 0, calls: 0, seconds: 0 };
  for await (const { trees, timing } of trainer) {
    found.seconds += timing["timing_s/step"]!;
    for (const { trajectories: rows, nodes, prompt } of trees) {
      found.rows += rows.length;
      found.prompts += prompt.tokens.length;
      for (const { tool, tokens } of nodes) {
        found[tool ? "results" : "written"] += tokens.length;
        if (tool) found.calls++;
      }
    }
  }
  const { step } = expected;
  const sum = (calls: Record<string, number>) => Object.values(calls).reduce((a, b) => a + b, 0);
  const ratio = (name: string, ours: number, theirs: number, within: number) => {
    t.diagnostic(`${name}: estimated ${ours.toPrecision(4)}, found ${theirs.toPrecision(4)}`);
    assert.ok(Math.abs(ours / theirs - 1) <= within, `${name}: ${ours} against ${theirs}`);
  };
  assert.equal(step.trajectories * 3, found.rows);
  ratio("prompt tokens", step.tokens.prompts * 3, found.prompts, 0.25);
  ratio("tokens written", step.tokens.written * 3, found.written, 0.25);
  ratio("tokens of tools", step.tokens.results * 3, found.results, 0.25);
  ratio("calls", sum(step.calls) * 3, found.calls, 0.25);
  // Not judged: a machine that others use says nothing about it.
  t.diagnostic(
    `seconds of 3 steps: estimated ${step.seconds["step"]! * 3}, found ${found.seconds}`,
  );
  assert.equal(expected.run.steps, 3);
  assert.equal(expected.run.validations, 2);
  assert.ok(expected.run.trajectories === found.rows + 2 * 8);
  assert.ok(expected.bytes > 0);
  parts.policy.model.dispose();
  await parts.tools.dispose();
});

test("arpo-lab estimate prints a table, or JSON with what calls cost", () => {
  const root = fileURLToPath(new URL("../../../../", import.meta.url));
  const run = (...args: string[]) =>
    spawnSync(process.execPath, ["apps/cli/bin/arpo-lab.mjs", "estimate", ...overrides, ...args], {
      cwd: root,
      encoding: "utf8",
    });
  const table = run("--prompts", "1");
  assert.match(table.stdout, /a step +3 steps\ntime .*\ntrajectories +128 +400\n/, table.stderr);
  const { stdout } = run("--json", "--prompts", "1", "--price", "search=0.5");
  const { step } = JSON.parse(stdout) as RunEstimate;
  assert.ok(Math.abs(step.cost - 0.5 * step.calls["search"]!) < 1e-9);
  assert.match(run("--price", "search").stderr, /what a call costs/);
});
