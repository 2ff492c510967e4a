import assert from "node:assert/strict";
import { lstat, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { test, type TestContext } from "node:test";
import { lockFolder } from "./lock-folder.js";
import { RunFolder } from "./run-folder.js";

async function folder(t: TestContext): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "arpo-lab-folder-"));
  t.after(() => rm(path, { recursive: true }));
  return path;
}

test("metrics that cannot be read never become an empty file when a run is resumed", async (t) => {
  const path = await folder(t);
  // A link that leads to itself can be read by nobody, root included; a rename would replace it.
  await symlink("metrics.jsonl", join(path, "metrics.jsonl"));
  const run = await RunFolder.open(path);
  await assert.rejects(run.rewind(3), /Cannot read metrics\.jsonl in .*ELOOP/);
  assert.ok((await lstat(join(path, "metrics.jsonl"))).isSymbolicLink());
  await assert.rejects(RunFolder.existing(path), /metrics\.jsonl must be there \(ELOOP\)/);
});

test("a line of metrics that is no JSON is named by file and number", async (t) => {
  const path = await folder(t);
  await writeFile(join(path, "metrics.jsonl"), '{"step":1}\n{"step":\n{"step":3}\n');
  const run = await RunFolder.open(path);
  await assert.rejects(run.metrics(), /metrics\.jsonl in .*: line 2 must be JSON, got \{"step":$/);
});

test("a lock that cannot be read is not taken for one that was left behind", async (t) => {
  const path = await folder(t);
  await mkdir(join(path, "run.lock"));
  await assert.rejects(lockFolder(path), { code: "EISDIR" });
  assert.ok((await lstat(join(path, "run.lock"))).isDirectory());
});

test("a note of the last checkpoint that cannot be read is not written anew", async (t) => {
  const path = await folder(t);
  const run = await RunFolder.open(path);
  await symlink(
    "latest_checkpointed_iteration.txt",
    join(path, "latest_checkpointed_iteration.txt"),
  );
  await assert.rejects(run.noteLatest(2), { code: "ELOOP" });
});

test("console.log of a run's folder prints a table of its last steps", async (t) => {
  const path = await folder(t);
  const run = await RunFolder.open(path);
  assert.equal(inspect(run), `run in ${path}: 0 steps`);
  for (let step = 1; step <= 13; step++)
    await run.appendMetrics({ step, "critic/score/mean": step / 20, "perf/other": 1 });
  const [head, names, first, ...rest] = inspect(run).split("\n");
  assert.equal(head, `run in ${path}: 13 steps, the last 12 of them here`);
  assert.match(names!, /^step +score$/);
  assert.match(first!, /^2 +0\.100$/);
  assert.match(rest.at(-1)!, /^13 +0\.650$/);
});
