import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { JobLedger } from "./job-ledger.js";

test("a ledger that cannot be read is an error, one that is not there has no jobs", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "arpo-ledger-"));
  t.after(() => rm(folder, { recursive: true }));
  assert.deepEqual(await new JobLedger(join(folder, "none")).all(), []);
  const file = join(folder, "file");
  await writeFile(file, "");
  await assert.rejects(new JobLedger(file).all(), /ENOTDIR/);
});
