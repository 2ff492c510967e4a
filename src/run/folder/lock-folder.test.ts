import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { lockFolder } from "./lock-folder.js";

const folder = mkdtempSync(join(tmpdir(), "lock-"));
const lock = join(folder, "run.lock");
after(() => rmSync(folder, { recursive: true, force: true }));

test("lockFolder() refuses a second writer until the first lets go", async () => {
  const release = await lockFolder(folder);
  await assert.rejects(lockFolder(folder), /one process may write it, got two; this one/);
  release();
  release();
  assert.ok(!existsSync(lock));
  (await lockFolder(folder))();
});

test("lockFolder() refuses while another process lives and takes over from a dead one", async () => {
  const other = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"]);
  const note = (pid: number, host = hostname(), began: string | null = null) =>
    writeFileSync(lock, JSON.stringify({ host, pid, began }));
  note(other.pid!);
  await assert.rejects(lockFolder(folder), new RegExp(`process ${other.pid} on .* is at it`));
  const gone = new Promise((resolve) => other.once("exit", resolve));
  other.kill("SIGKILL");
  await gone;
  (await lockFolder(folder))();

  // On another machine nobody can tell.
  note(other.pid!, "elsewhere");
  await assert.rejects(lockFolder(folder), /on elsewhere is at it \(delete run\.lock/);

  // Killed before it had written who it is.
  writeFileSync(lock, "");
  (await lockFolder(folder))();
  assert.ok(!existsSync(lock));
});

test(
  "lockFolder() knows a process number that came again",
  { skip: !existsSync("/proc/self/stat") && "no /proc here" },
  async () => {
    writeFileSync(lock, JSON.stringify({ host: hostname(), pid: process.pid, began: "1" }));
    (await lockFolder(folder))();
  },
);
