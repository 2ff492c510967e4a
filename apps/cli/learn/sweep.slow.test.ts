import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { temporaryFolder } from "../../../tests/temporary.js";
import { until } from "../../../tests/until.js";
import { fingerprint, runToEnd, small, start } from "../../../tests/cli/training-run.js";

const program = fileURLToPath(new URL("../../../../apps/cli/bin/arpo-lab.mjs", import.meta.url));
const shared = small(
  "trainer.total_training_steps=4",
  "trainer.save_freq=1",
  "trainer.max_actor_ckpt_to_keep=1",
  "lab.keep_best=false",
).slice(1);

/** A sweep's file; `run.lock` aside, what its folder holds. */
async function fileFor(folder: string, arms: object, more: object = {}): Promise<string> {
  const path = `${folder}.json`;
  // JSON is YAML.
  const content = {
    folder,
    preset: "tiny",
    overrides: shared,
    arms,
    seeds: "1..2",
    processes: 2,
    ...more,
  };
  await writeFile(path, JSON.stringify(content));
  return path;
}

const tableOf = (output: string) => output.slice(output.indexOf("\narm "));

test("a sweep killed with SIGKILL midway and started again ends with the tables of one never stopped", async () => {
  const home = await temporaryFolder("arpo-sweep");
  const arms = { fresh: { preset: "grpo" }, trees: { preset: "arpo" } };
  const [whole, broken] = [join(home, "whole"), join(home, "broken")];
  const compare = { x: "steps", at: 4, margin: 0.5 };
  const file = await fileFor(whole, arms, { compare });
  const all = await runToEnd(["sweep", file]);
  assert.equal(all.status, 0, all.output);
  assert.match(all.output, /held-out score at 4 steps[^]*trees - fresh +2 /);
  assert.match(all.output, /fresh, seed 1 begins[^]*trees, seed 2 done/);

  const first = start(["sweep", file, "--out", broken]);
  // Both arms have begun with the first seed. One run is done, the next has a checkpoint to go on from.
  await first.said(/, seed 2 begins/);
  const [, begun] = /(\w+), seed 2 begins/.exec(first.output())!;
  await until(() => existsSync(join(broken, `${begun}/seed-2/global_step_1`)), "a half run");
  const done = ["fresh/seed-1", "trees/seed-1"].find((id) =>
    first.output().includes(`${id.replace("/seed-", ", seed ")} done`),
  )!;
  const timing = await readFile(join(broken, done, "timing.jsonl"), "utf8");
  first.child.kill("SIGKILL");
  assert.equal(await first.ended, "SIGKILL");
  const again = await runToEnd(["sweep", file, "--out", broken]);
  assert.equal(again.status, 0, again.output);
  assert.doesNotMatch(again.output, new RegExp(`${done.replace("/seed-", ", seed ")} begins`));
  assert.equal(await readFile(join(broken, done, "timing.jsonl"), "utf8"), timing);
  const table = (output: string, folder: string) => tableOf(output).replaceAll(folder, "");
  assert.equal(table(again.output, broken), table(all.output, whole));
  for (const id of ["fresh/seed-1", "fresh/seed-2", "trees/seed-1", "trees/seed-2"]) {
    const named = (folder: string) => {
      const all = fingerprint(join(folder, id));
      delete all["config.yaml"];
      return all;
    };
    assert.deepEqual(named(join(broken)), named(join(whole)), id);
  }
  const seeds = (arm: string) => [1, 2].map((seed) => join(whole, arm, `seed-${seed}`)).join(",");
  const at = ["--at", "600", "--metric", "critic/score/mean"];
  const compared = await runToEnd(["compare", `a=${seeds("fresh")}`, `b=${seeds("trees")}`, ...at]);
  assert.match(compared.output, /critic\/score\/mean at 600 tokens[^]*b - a +2 /, compared.output);

  const other = await fileFor(join(home, "broken"), { fresh: { preset: "aepo" } });
  const refused = await runToEnd(["sweep", other]);
  assert.match(refused.output, /fresh\/seed-1 of .* must have the settings that it was begun with/);
});

test("a run whose sweep died before the run had started ends and writes nothing", async () => {
  const folder = join(await temporaryFolder("arpo-sweep"), "run");
  const child = spawn(process.execPath, [program, "train", "--preset", "tiny", "--out", folder], {
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
  const ended = new Promise((done) => child.once("exit", done));
  child.disconnect();
  assert.equal(await ended, 1);
  assert.equal(existsSync(folder), false);
});

test("a run of a sweep that fails is named with its log, and stops no other one", async () => {
  const folder = join(await temporaryFolder("arpo-sweep"), "runs");
  const file = await fileFor(folder, {
    good: [],
    bad: ["data.train_files=nothing-here.jsonl"],
  });
  const { status, output } = await runToEnd(["sweep", file, "--seeds", "3"]);
  assert.equal(status, 1);
  assert.match(output, /good +1\/1/);
  assert.match(output, /bad, seed 3 failed: .*nothing-here\.jsonl/);
  const [, log] = /its log: (.*)/.exec(output)!;
  assert.match(await readFile(log!, "utf8"), /nothing-here/);
  assert.match(output, /Cannot finish the sweep: 1 of 2 runs failed/);
});

test("train --seeds is a sweep of one setting", async () => {
  const folder = join(await temporaryFolder("arpo-sweep"), "runs");
  const args = [...small("trainer.total_training_steps=1"), "--seeds", "1..2"];
  const lacking = await runToEnd(args);
  assert.match(lacking.output, /--seeds needs --out/);
  const none = await runToEnd(["sweep", `${folder}.yaml`]);
  assert.match(none.output, /Cannot sweep: .*runs\.yaml must be a readable file, got ENOENT/);
  const { status, output } = await runToEnd([...args, "--out", folder]);
  assert.equal(status, 0, output);
  assert.match(output, /run +2\/2/);
  assert.ok(existsSync(join(folder, "run/seed-2/metrics.jsonl")));
});
