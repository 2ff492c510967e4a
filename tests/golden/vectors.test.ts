import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../..", import.meta.url));

test("every golden vector that the code covers passes", () => {
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    ["scripts/vectors.mjs", "tests/vectors", "--no-build"],
    { cwd: root, encoding: "utf8" },
  );
  assert.equal(status, 0, stdout + stderr);
});
