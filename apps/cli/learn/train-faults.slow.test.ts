import assert from "node:assert/strict";
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { spawnSync } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { remount, smallDisk } from "../../../tests/small-disk.js";
import { until } from "../../../tests/until.js";
import { fingerprint, runToEnd, small, start } from "../../../tests/cli/training-run.js";

const steps = ["trainer.total_training_steps=4", "trainer.save_freq=1", "trainer.test_freq=4"];
const home = () => mkdtemp(join(tmpdir(), "arpo-lab-faults-"));

const lines = async (folder: string) =>
  (await readFile(join(folder, "metrics.jsonl"), "utf8")).trim().split("\n").length;

test("train on a full disk says so, keeps what is saved and goes on once there is room", async (t) => {
  const disk = await smallDisk(t, 27); // two checkpoints and a bit
  if (disk === undefined) return;
  const whole = await home();
  const expected = await runToEnd([...small(...steps), "--out", join(whole, "run")]);
  assert.equal(expected.status, 0, expected.output);
  const folder = join(disk, "run");
  const args = [...small(...steps), "--out", folder];
  const full = await runToEnd(args);
  assert.equal(full.status, 1, full.output);
  assert.match(
    full.output,
    /Cannot save checkpoint global_step_3 in .*: the disk is full \(ENOSPC\)/,
  );
  assert.match(
    full.output,
    /holds everything up to its checkpoint global_step_2; the same command/,
  );
  remount(disk, "size=80m");
  const again = await runToEnd(args);
  assert.equal(again.status, 0, again.output);
  assert.deepEqual(fingerprint(folder), fingerprint(join(whole, "run")));
  await rm(whole, { recursive: true });
});

test("train in a folder that cannot be written says so before anything is trained", async (t) => {
  const root = process.getuid?.() === 0;
  const disk = root ? await smallDisk(t, 8) : await home();
  if (disk === undefined) return;
  if (root) remount(disk, "ro");
  else await chmod(disk, 0o555);
  const { status, output } = await runToEnd([...small(...steps), "--out", join(disk, "run")]);
  assert.equal(status, 1);
  assert.match(
    output,
    /Cannot open the run folder .*: the folder cannot be written \(E(ROFS|ACCES)\)/,
  );
  assert.match(output, /nothing was saved/);
});

test("train on a disk that becomes read-only says so, keeps what is saved and goes on later", async (t) => {
  const disk = await smallDisk(t, 80);
  if (disk === undefined) return;
  const folder = join(disk, "run");
  const args = [...small(...steps), "--out", folder];
  const running = start(args);
  await running.said(/^ +2\/4 /m);
  // A file that is open for writing keeps a disk from it: asked until it is not.
  await until(() => spawnSync("mount", ["-o", "remount,ro", disk]).status === 0, "read-only");
  assert.equal(await running.ended, 1, running.output());
  assert.match(running.output(), /Cannot save .* in .*: the folder cannot be written \(EROFS\)/);
  assert.doesNotMatch(running.output(), /unlink|run\.lock/);
  remount(disk, "rw");
  const again = await runToEnd(args);
  assert.equal(again.status, 0, again.output);
  const whole = join(await home(), "run");
  assert.equal((await runToEnd([...small(...steps), "--out", whole])).status, 0);
  assert.deepEqual(fingerprint(folder), fingerprint(whole));
  await rm(join(whole, ".."), { recursive: true });
});

test("train with rewards that give no finite gradient stops, and keeps its weights", async () => {
  const folder = await home();
  const reward = join(folder, "huge.mjs");
  await writeFile(
    reward,
    "let n = 0;\nexport const compute_score = () => (n++ % 2 ? 1 : -1) * Number(process.env.HUGE);\n",
  );
  const args = [
    ...small(...steps, `custom_reward_function.path=${reward}`),
    "algorithm.norm_adv_by_std_in_grpo=false",
    "--out",
    join(folder, "run"),
  ];
  // What a float32 does not hold is refused before anything is computed with it.
  const beyond = await runToEnd(args, { HUGE: "1e300" });
  assert.equal(beyond.status, 1, beyond.output);
  assert.match(
    beyond.output,
    /Cannot update: advantages must be finite, got -?Infinity at token \d+ of trajectory \d+ of /,
  );
  const { status, output } = await runToEnd(args, { HUGE: "1e30" });
  assert.equal(status, 1, output);
  assert.match(output, /step 1: 1 of 1 optimiser steps were skipped .*\(norm (NaN|Infinity)\)/);
  assert.match(
    output,
    /Cannot train: an update must have a finite gradient, got norm (NaN|Infinity) in all of steps 1, 2, 3/,
  );
  assert.match(output, /up to its checkpoint global_step_2/);
  await rm(folder, { recursive: true });
});

test("train with a learning rate that breaks the weights keeps the last good checkpoint", async () => {
  const folder = join(await home(), "run");
  const good = [...small(...steps), "--out", folder];
  assert.equal((await runToEnd([...good, "trainer.total_training_steps=2"])).status, 0);
  const before = fingerprint(join(folder, "global_step_2"));
  const broken = await runToEnd([...good, "actor_rollout_ref.actor.optim.lr=1e39"]);
  assert.equal(broken.status, 1, broken.output);
  assert.match(
    broken.output,
    /Cannot save checkpoint global_step_3 .*weights must be finite numbers, got (NaN|-?Infinity) in/,
  );
  assert.deepEqual(fingerprint(join(folder, "global_step_2")), before);
  const fixed = await runToEnd(good);
  assert.equal(fixed.status, 0, fixed.output);
  assert.equal(await lines(folder), 4);
  await rm(join(folder, ".."), { recursive: true });
});

test("train with a reward that throws names task and reason, and goes on when it is fixed", async () => {
  const folder = await home();
  const reward = join(folder, "reward.mjs");
  const write = (judge: string) =>
    writeFile(
      reward,
      `let n = 0;\nexport const compute_score = (t) => {${judge} return t.length % 3; };\n`,
    );
  const args = [
    ...small(...steps, `custom_reward_function.path=${reward}`),
    "--out",
    join(folder, "run"),
  ];
  await write('if (n++ > 20) throw new Error("the judge is out");');
  const { status, output } = await runToEnd(args);
  assert.equal(status, 1);
  assert.match(
    output,
    /Cannot score task calc-train-\d+, trajectory \d: the reward threw the judge is out/,
  );
  assert.match(output, /up to its checkpoint global_step_2/);
  await write("");
  assert.equal((await runToEnd(args)).status, 0);
  assert.equal(await lines(join(folder, "run")), 4);
  await rm(folder, { recursive: true });
});

test("train with a tool that dies tells of it in every step; one that cannot be loaded is named", async () => {
  const folder = await home();
  const tool = join(folder, "dead.mjs");
  await writeFile(
    tool,
    `export default { name: "python", execute: () => { throw new Error("connection refused"); } };\n`,
  );
  const path = "actor_rollout_ref.rollout.tools.tool_instances.python.class_path";
  const args = (to: string, ...more: string[]) => [
    ...small(...steps, "trainer.total_training_steps=2", ...more),
    "--out",
    join(folder, to),
  ];
  const dead = await runToEnd(args("dead", `${path}=${tool}`));
  assert.equal(dead.status, 0, dead.output);
  assert.match(
    dead.output,
    /step 2: \d+% of the trajectories had a tool that failed \(python, \d+ calls\)/,
  );
  const calls = await readFile(join(folder, "dead/tool_calls.jsonl"), "utf8");
  assert.match(calls, /"failure":\{"kind":"error","message":"connection refused"\}/);

  const none = join(folder, "none.mjs");
  const without = await runToEnd(args("none", `${path}=${none}`));
  assert.equal(without.status, 0, without.output);
  assert.match(without.output, /going on without a tool: Cannot load tool python: .*none.mjs/);
  const strict = "actor_rollout_ref.rollout.tools.fail_on_error=true";
  const refused = await runToEnd(args("strict", `${path}=${none}`, strict));
  assert.equal(refused.status, 1);
  assert.match(refused.output, /Cannot load tool python: .*none.mjs/);
  await rm(folder, { recursive: true });
});

test("train goes on when loggers cannot be made or reached, and says which", async () => {
  const folder = await home();
  const run = join(folder, "run");
  await mkdir(run);
  await writeFile(join(run, "tensorboard"), "in the way");
  const { status, output } = await runToEnd(
    [
      ...small(...steps, "trainer.logger=[console,tensorboard,mlflow]"),
      "trainer.total_training_steps=2",
      "--out",
      run,
    ],
    { MLFLOW_TRACKING_URI: "http://127.0.0.1:9" },
  );
  assert.equal(status, 0, output);
  assert.match(output, /the logger tensorboard failed, training goes on: .*EEXIST/);
  assert.equal(output.match(/the logger mlflow failed/g)!.length, 1);
  assert.equal(await lines(run), 2);

  await rm(folder, { recursive: true });
});
