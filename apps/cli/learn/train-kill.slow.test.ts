import assert from "node:assert/strict";
import { mkdtemp, readFile, readdir, rm } from "node:fs/promises";
import { watch } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { test } from "node:test";
import { Random } from "../../../src/base/random/random.js";
import { fingerprint, runToEnd, small, start } from "../../../tests/cli/training-run.js";

const args = (folder: string) => [
  ...small(
    "trainer.total_training_steps=24",
    "trainer.save_freq=2",
    "trainer.test_freq=4",
    "trainer.max_actor_ckpt_to_keep=2",
  ),
  "--out",
  folder,
];

/** Resolves when something below the folder's top is first written after now. */
function nextWrite(folder: string, pattern: RegExp, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const watcher = watch(folder, (_, name) => {
      if (pattern.test(name ?? "")) resolve();
    });
    signal.addEventListener("abort", () => {
      watcher.close();
      resolve();
    });
  });
}

test("train killed with SIGKILL at ten moments and resumed ends with the same bytes", async (t) => {
  const home = await mkdtemp(join(tmpdir(), "arpo-lab-kill-"));
  const whole = join(home, "whole");
  const first = await runToEnd(args(whole));
  assert.equal(first.status, 0, first.output);
  const lines = (await readFile(join(whole, "timing.jsonl"), "utf8")).trim().split("\n");
  const seconds = lines.map((l) => (JSON.parse(l) as Record<string, number>)["timing_s/step"]!);
  const step = (1000 * seconds.reduce((a, b) => a + b)) / seconds.length;

  const folder = join(home, "killed");
  const draws = Random.from(7).split("kill");
  // Moments all along the run: by the clock, while a checkpoint is written, while metrics are.
  for (let i = 0; i < 10; i++) {
    const running = start(args(folder));
    const behind = 2 * i;
    await running.said(behind === 0 ? "training in" : new RegExp(`^ +${behind}/24 `, "m"));
    const stop = new AbortController();
    const wait =
      i % 3 === 0
        ? sleep(step * 2 * draws.uniform())
        : nextWrite(folder, i % 3 === 1 ? /^global_step.*tmp$/ : /^metrics/, stop.signal).then(() =>
            sleep(30 * draws.uniform()),
          );
    await Promise.race([wait, running.ended]);
    stop.abort();
    running.child.kill("SIGKILL");
    assert.equal(await running.ended, "SIGKILL", running.output());
    // The first kill may come before there is a folder.
    const left = await readdir(folder).catch(() => [] as string[]);
    t.diagnostic(`kill ${i + 1}: ${left.filter((n) => n.startsWith("global_step")).join(" ")}`);
  }
  const last = await runToEnd(args(folder));
  assert.equal(last.status, 0, last.output);
  assert.deepEqual(fingerprint(folder), fingerprint(whole));
  // A run that is done stays as it is.
  assert.equal((await runToEnd(args(folder))).status, 0);
  assert.deepEqual(fingerprint(folder), fingerprint(whole));
  await rm(home, { recursive: true });
});
