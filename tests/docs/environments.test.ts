// docs/environments.md: its files are written into a folder and run as they stand.
import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { importModule } from "../../src/base/modules/import-module.js";
import { environmentOf } from "../../src/run/trainer/environment-of.js";
import { loadConfig } from "../../src/run/config/load.js";

test("docs/environments.md: its environment is rolled out in, and a configuration takes it", async () => {
  const path = fileURLToPath(new URL("../../../docs/environments.md", import.meta.url));
  const page = await readFile(path, "utf8");
  const files = [...page.matchAll(/^```ts (\S+)\n([^]*?)^```$/gm)];
  assert.deepEqual(
    files.map(([, name]) => name),
    ["lights.ts", "try-lights.ts"],
  );
  const folder = await mkdtemp(join(tmpdir(), "lights-"));
  try {
    for (const [, name, text] of files) await writeFile(join(folder, name!), text!);
    await importModule(pathToFileURL(join(folder, "try-lights.ts")).href);
    const { config } = await loadConfig({
      overrides: [`data.environment=${join(folder, "lights.ts")}`],
    });
    assert.equal((await environmentOf(config))!.name, "Lights");
  } finally {
    await rm(folder, { recursive: true });
  }
});
