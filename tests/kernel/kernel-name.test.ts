import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { findKernel, kernelOf } from "../../kernel/client/kernel-spec.js";

test("a kernel's name does not lead out of the folder of kernels", () => {
  const root = mkdtempSync(join(tmpdir(), "kernel-names-"));
  try {
    for (const name of ["kernels", "planted"]) mkdirSync(join(root, name));
    const argv = ["touch", join(root, "ran")];
    writeFileSync(join(root, "planted/kernel.json"), JSON.stringify({ argv }));
    for (const name of ["../planted", "..", ".", "a/../../planted", "..\\planted", "", "/etc"]) {
      const refused = /^RangeError: Cannot start kernel: its name must be letters, digits/;
      assert.throws(() => findKernel(name, [join(root, "kernels")]), refused, name);
    }
    assert.throws(
      () => kernelOf({ kernelspec: { name: "../planted", language: "x" } }),
      RangeError,
    );
  } finally {
    rmSync(root, { recursive: true });
  }
});
