import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../..", import.meta.url));

test("every file that SECURITY.md names is there, and every contained part has a test", () => {
  const text = readFileSync(join(root, "docs/SECURITY.md"), "utf8");
  const named = [...text.matchAll(/`([\w./-]+\.ts)`/g)].map((match) => match[1]!);
  assert.ok(named.length > 20);
  const homes = ["", "src/tools/python"];
  assert.deepEqual(
    named.filter((path) => !homes.some((home) => existsSync(join(root, home, path)))),
    [],
  );
  const contained = /## What is contained\n([^]*?)\n## /.exec(text)![1]!;
  const parts = contained.split(/\n(?=\*\*)/).filter((part) => part.startsWith("**"));
  assert.ok(parts.length > 8);
  assert.deepEqual(
    parts
      .filter((part) => !/tests?:\s+`|tools\/test\.mjs/.test(part))
      .map((part) => part.slice(0, 60)),
    [],
  );
});
