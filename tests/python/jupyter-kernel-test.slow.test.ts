// The kernel as Python's own tools see it. ARPO_LAB_PYTHON names a Python with jupyter_kernel_test.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const python = process.env.ARPO_LAB_PYTHON;
const root = fileURLToPath(new URL("../../../", import.meta.url));
const skip = python === undefined ? "ARPO_LAB_PYTHON names no Python" : false;

/** Runs a script of this folder with the kernels installed; what it wrote. */
function ran(script: string, ...args: string[]): { stdout: string; stderr: string } {
  const prefix = mkdtempSync(join(tmpdir(), "arpo-python-"));
  try {
    const bin = join(root, "apps/cli/bin/arpo-lab.mjs");
    const installed = spawnSync(process.execPath, [bin, "kernel", "install", "--prefix", prefix]);
    assert.equal(installed.status, 0);
    const path = join(root, "tests/python", script);
    const { status, stdout, stderr } = spawnSync(python!, [path, ...args], {
      cwd: root,
      encoding: "utf8",
      env: {
        ...process.env,
        JUPYTER_PATH: join(prefix, "share", "jupyter"),
        ARPO_LAB_DATA: join(prefix, "data"),
      },
    });
    assert.equal(status, 0, stderr);
    return { stdout, stderr };
  } finally {
    rmSync(prefix, { recursive: true });
  }
}

test("jupyter_kernel_test passes 12 of 12, none skipped", { skip }, () => {
  const { stderr } = ran("test_kernel.py");
  assert.match(stderr, /Ran 12 tests/);
  assert.ok(!/skipped/.test(stderr), stderr);
});

test(
  "jupyter_client requires encryption, and a client without keys is not answered",
  { skip },
  () => {
    const { stdout } = ran("check_encryption.py", "arpo-lab-js");
    assert.deepEqual(JSON.parse(stdout), {
      protocol_version: "5.5",
      supported_features: ["kernel subshells", "debugger"],
      stranger: "nothing",
    });
  },
);
