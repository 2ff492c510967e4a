import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { configPage, metricsPage } from "./reference-pages.js";

const pages = { "docs/metrics.md": metricsPage, "docs/config.md": configPage };

for (const [name, make] of Object.entries(pages)) {
  test(`${name} is what the code says; ARPO_LAB_UPDATE=1 writes it anew`, async () => {
    const path = fileURLToPath(new URL(`../../../${name}`, import.meta.url));
    if (process.env["ARPO_LAB_UPDATE"]) await writeFile(path, make());
    const words = (text: string) => text.replace(/\s+/g, " ").trim();
    assert.equal(words(await readFile(path, "utf8")), words(make()));
  });
}
