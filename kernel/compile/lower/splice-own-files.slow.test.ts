import { ok } from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { same, spliced } from "./testing/beside-printer.js";

test("splice() makes what the printer makes of this package's own files", () => {
  let count = 0;
  const files = ["kernel/compile", "kernel/run", "kernel/display", "src/rollout"].flatMap(
    (folder) =>
      readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => join(folder, name)),
  );
  for (const path of files.filter((name) => /(?<!\.d)\.ts$/.test(name))) {
    const text = readFileSync(path, "utf8");
    same(text);
    if (spliced(text)) count++;
  }
  ok(count > 80, `${count} files`);
});
