import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

// `npm run check` holds docs/api-report.md against the declarations; this holds it against what runs.
const root = new URL("../../", import.meta.url);
const report = readFileSync(new URL("docs/api-report.md", root), "utf8");
const { exports } = JSON.parse(readFileSync(new URL("package.json", root), "utf8")) as {
  exports: Record<string, { default: string } | string>;
};

for (const [path, target] of Object.entries(exports)) {
  if (typeof target === "string") continue;
  const name = `arpo-lab${path.slice(1)}`;
  test(`${name} exports as many values as docs/api-report.md says`, async () => {
    const counted = report.split("\n").find((line) => line.startsWith(`| \`${name}\` |`));
    assert.ok(counted, `${name} stands in the table`);
    const values = Object.keys((await import(new URL(target.default, root).href)) as object);
    assert.equal(values.length, Number(counted.split("|")[3]), values.join(", "));
  });
}
