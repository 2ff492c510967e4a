import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { until } from "../../../tests/until.js";
import { temporaryFolder } from "../../../tests/temporary.js";
import { notebookOf, run, runIn, shown, start, startIn } from "../../../tests/cli/notebook-run.js";

test("run interrupts a cell that hangs, in a loop or in an await, and keeps what it printed", async () => {
  for (const hang of ["for (;;) {}", "await new Promise(() => undefined);"]) {
    const path = notebookOf("1", `console.log('before');\n${hang}`, "3");
    const { code, stderr } = await run(path, "--timeout", "5");
    assert.equal(code, 1, stderr);
    const [first, second, third] = shown(path);
    assert.equal(first, "1");
    assert.match(second!, /^before\n.*CellTimeoutError: the cell must end within 5 s$/);
    assert.equal(third, "");
    assert.match(stderr, /cell 2.*CellTimeoutError/);
  }
});

test("run kills a kernel that does not let itself be interrupted", async () => {
  const path = notebookOf("1", "process.kill(process.pid, 'SIGSTOP');");
  const { code, stderr } = await run(path, "--timeout", "5");
  assert.equal(code, 1);
  assert.deepEqual(shown(path), ["1", "CellTimeoutError: the cell must end within 5 s"]);
  assert.match(stderr, /CellTimeoutError/);
});

test("run says how a kernel died and keeps what ran", async () => {
  const path = notebookOf(
    "1",
    "process.kill(process.pid, 'SIGKILL'); await new Promise(() => undefined);",
    "3",
  );
  const { code, stderr } = await run(path, "--allow-errors");
  assert.deepEqual(shown(path).slice(0, 1), ["1"]);
  assert.match(shown(path)[1]!, /KernelDiedError: The kernel arpo-lab was killed by SIGKILL/);
  assert.match(stderr, /killed by SIGKILL/);
  assert.equal(code, 0);
});

test("run stopped by a signal interrupts the cell, saves and leaves with the signal's code", async () => {
  const endless =
    "import { writeFileSync } from 'node:fs';\nconsole.log('begun');\nwriteFileSync('in', '');\nfor (;;) {}";
  const path = notebookOf("1", endless, "3");
  const inside = join(dirname(path), "in");
  for (const [signal, code] of [
    ["SIGTERM", 143],
    ["SIGINT", 130],
  ] as const) {
    const { child, ended, heard } = start(path);
    await heard("cell 1 of 3  ok");
    await until(() => existsSync(inside), "the cell to come to its loop");
    rmSync(inside);
    child.kill(signal);
    const ran = await ended;
    assert.equal(ran.code, code, ran.stderr);
    assert.equal(shown(path)[0], "1");
    assert.match(shown(path)[1]!, /begun[^]*Interrupted/);
  }
});

const kernelFolders = (temporary: string) =>
  readdirSync(temporary).filter((name) => name.startsWith("arpo-kernel-"));

test("run killed at once leaves the cells before, and no kernel behind", async () => {
  const pid =
    "import { writeFileSync } from 'node:fs';\nwriteFileSync('pid', String(process.pid));\n1";
  const path = notebookOf(pid, "for (;;) {}");
  const TMPDIR = temporaryFolder("kernels");
  const { child, ended, heard } = startIn({ TMPDIR }, path);
  await heard("cell 1 of 2  ok");
  assert.equal(kernelFolders(TMPDIR).length, 1);
  child.kill("SIGKILL");
  assert.equal((await ended).signal, "SIGKILL");
  assert.deepEqual(shown(path), ["1", ""]);
  const kernel = Number(readFileSync(join(dirname(path), "pid"), "utf8"));
  const alive = (): boolean => {
    try {
      return process.kill(kernel, 0);
    } catch {
      return false; // ESRCH: it is gone
    }
  };
  await until(() => !alive(), "the kernel to end with the command");
  assert.deepEqual(kernelFolders(TMPDIR), []);
});

test("run that loses its folder halfway puts what ran elsewhere and says so", async () => {
  const path = notebookOf(
    "import { rmSync } from 'node:fs';\nrmSync(gone, { recursive: true });\n1",
    "2",
  );
  const gone = join(dirname(path), "gone");
  // Links that somebody planted where a copy might go.
  const [temporary, other] = [temporaryFolder("planted"), join(dirname(path), "other")];
  writeFileSync(other, "other");
  for (const name of ["nb.ipynb", "out.ipynb", "arpo-lab-out.ipynb", "arpo-lab-nb.ipynb"])
    symlinkSync(other, join(temporary, name));
  const rest = ["--out", join(gone, "out.ipynb"), "--param", `gone=${gone}`];
  const { code, stderr } = await runIn({ TMPDIR: temporary }, path, ...rest);
  assert.equal(readFileSync(other, "utf8"), "other");
  assert.equal(code, 2);
  assert.match(stderr, /Cannot write .*going on, trying again/);
  const spare = /what ran is in (\S+)/.exec(stderr)?.[1] ?? "";
  assert.ok(existsSync(spare), stderr);
  assert.deepEqual(shown(spare).slice(1), ["1", "2"]);
  rmSync(spare);
});
