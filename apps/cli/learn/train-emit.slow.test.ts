import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { runLine } from "../../../src/run/loggers/json-lines.js";
import { small } from "../../../tests/cli/training-run.js";

const command = fileURLToPath(new URL("../../../../apps/cli/bin/arpo-lab.mjs", import.meta.url));

test("train --emit - gives standard output to programs: one line of JSON per step", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "arpo-lab-emit-"));
  t.after(() => rm(folder, { recursive: true }));
  const args = [...small("trainer.total_training_steps=2"), "--out", folder, "--emit", "-"];
  const { status, stdout, stderr } = spawnSync(process.execPath, [command, ...args], {
    encoding: "utf8",
  });
  assert.equal(status, 0, stderr);
  const lines = stdout.trimEnd().split("\n").map(runLine);
  assert.deepEqual(
    lines.map((line) => line && [line.run, "step" in line ? line.step : line.outcome]),
    [
      ["begin", 0],
      ["step", 1],
      ["step", 2],
      ["end", "finished"],
    ],
  );
  const saved = (await readFile(join(folder, "metrics.jsonl"), "utf8")).trim().split("\n");
  const { step, ...metrics } = JSON.parse(saved[1]!) as Record<string, number>;
  const line = lines[2]!;
  assert.ok(line.run === "step" && step === 2);
  for (const [name, value] of Object.entries(metrics)) assert.equal(line.metrics[name], value);
  assert.match(stderr, /training in .*\n[^]* 2\/2 /);
  const wrong = spawnSync(process.execPath, [command, "train", "--emit", "x.jsonl"]);
  assert.match(wrong.stderr.toString(), /--emit must be - \(standard output\), got x\.jsonl/);
});
