import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../..", import.meta.url));

test("the gradient of every loss is what differences of it are, in double precision", () => {
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    ["tools/vendor/float64.mjs", "dist/tests/golden/gradient-check.js"],
    { cwd: root, encoding: "utf8" },
  );
  assert.equal(status, 0, stdout + stderr);
  assert.ok(stdout.split("\n").filter((line) => line.startsWith("ok")).length > 100, stdout);
});
