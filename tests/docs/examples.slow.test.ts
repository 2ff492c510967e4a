// The first example of pages that begin with a whole program: it runs as it stands, in an empty folder.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "arpo-lab-examples-"));
after(() => rmSync(folder, { recursive: true }));

for (const page of ["get-started", "how-it-works", "lora", "rollout", "sft"]) {
  test(`docs/${page}.md: its first example runs`, () => {
    const text = readFileSync(join(root, `docs/${page}.md`), "utf8");
    const code = /^```ts\n([^]*?)^```$/m.exec(text)?.[1];
    assert.ok(code, "a first example");
    writeFileSync(join(folder, `${page}.ts`), code);
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [join(root, "bin/arpo-lab.mjs"), "run", `${page}.ts`],
      { cwd: folder, encoding: "utf8" },
    );
    assert.equal(status, 0, stdout + stderr);
  });
}
