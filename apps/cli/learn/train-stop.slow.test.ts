import assert from "node:assert/strict";
import { mkdtemp, readFile, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { fingerprint, runToEnd, small, start } from "../../../tests/cli/training-run.js";

async function home(t: TestContext): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "arpo-lab-stop-"));
  t.after(() => rm(path, { recursive: true }));
  return path;
}

const args = (folder: string) => [
  ...small("trainer.total_training_steps=6", "trainer.save_freq=6", "lab.keep_best=false"),
  ...["--out", folder],
];

const steps = async (folder: string) =>
  (await readFile(join(folder, "metrics.jsonl"), "utf8")).trim().split("\n").length;

for (const [signal, status] of [
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const) {
  test(`the first ${signal} lets train finish and save its step, and the run continues from there`, async (t) => {
    const folder = join(await home(t), "run");
    const running = start(args(folder));
    await running.said(/^ +1\/6 /m);
    running.child.kill(signal);
    assert.equal(await running.ended, status, running.output());
    assert.match(running.output(), /stopping when this step is done and saved/);
    const done = await steps(folder);
    assert.match(running.output(), new RegExp(`checkpoint global_step_${done}; the same command`));
    assert.ok((await readdir(folder)).includes(`global_step_${done}`));
    const again = await runToEnd(args(folder));
    assert.equal(again.status, 0, again.output);
    const whole = join(await home(t), "whole");
    assert.equal((await runToEnd(args(whole))).status, 0);
    const last = (path: string) => fingerprint(join(path, "global_step_6"));
    assert.deepEqual(last(folder), last(whole));
    assert.equal(fingerprint(folder)["metrics.jsonl"], fingerprint(whole)["metrics.jsonl"]);
  });
}

test("the second Ctrl-C stops train at once", async (t) => {
  const folder = join(await home(t), "run");
  const running = start(args(folder));
  await running.said(/^ +1\/6 /m);
  running.child.kill("SIGINT");
  await running.said("Ctrl-C again stops at once");
  running.child.kill("SIGINT");
  assert.equal(await running.ended, 130, running.output());
});
