import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { exercises } from "../../notebooks/exercises/lessons/index.js";

interface Notebook {
  cells: {
    cell_type: string;
    id: string;
    source: string[];
    execution_count?: number | null;
    outputs?: { output_type: string; data?: Record<string, unknown> }[];
  }[];
}

const folder = new URL("../../../notebooks/", import.meta.url);
const lessons = readdirSync(folder)
  .filter((name) => /^\d\d-[a-z-]+\.ipynb$/.test(name))
  .sort();
const read = (name: string) => JSON.parse(readFileSync(new URL(name, folder), "utf8")) as Notebook;
const sourceOf = (notebook: Notebook, type: string) =>
  notebook.cells.filter((cell) => cell.cell_type === type).map((cell) => cell.source.join(""));

for (const name of lessons) {
  test(`notebooks/${name} has the shape of a lesson`, () => {
    const notebook = read(name);
    const [title = "", ...prose] = sourceOf(notebook, "markdown");
    const code = sourceOf(notebook, "code");
    assert.match(title, /\*\*Afterwards you can\*\*/);
    assert.match(prose.at(-1) ?? "", /\*\*Next:\*\*/);
    assert.ok([title, ...prose].some((text) => text.includes("**Predict:**")));
    assert.equal(new Set(notebook.cells.map((cell) => cell.id)).size, notebook.cells.length);
    for (const text of code) {
      const lines = text.split("\n");
      assert.ok(lines.length <= 32, `a cell of ${lines.length} lines: ${lines[0]}`);
      for (const line of lines) assert.ok(line.length <= 110, `too wide: ${line}`);
    }
    // Links to other lessons lead somewhere.
    for (const [, target = ""] of prose.join("\n").matchAll(/\]\(([\w-]+\.ipynb)\)/g)) {
      assert.ok(lessons.includes(target), `no notebook ${target}`);
    }
  });

  test(`notebooks/${name} carries outputs that a page without scripts can show`, () => {
    const notebook = read(name);
    const ran = notebook.cells.filter((cell) => cell.cell_type === "code");
    const outputs = ran.flatMap((cell) => cell.outputs ?? []);
    assert.ok(ran.every((cell) => cell.execution_count !== null));
    assert.ok(outputs.length >= ran.length / 2, `${outputs.length} outputs: npm run lessons`);
    const pictures = outputs.filter((output) => "image/svg+xml" in (output.data ?? {}));
    assert.ok(pictures.length > 0, "a figure worth sharing");
    assert.ok("image/svg+xml" in (outputs[0]?.data ?? {}), "it opens with its picture");
    for (const output of outputs) {
      assert.notEqual(output.output_type, "error");
      assert.doesNotMatch(JSON.stringify(output), /<script|<iframe|javascript:/);
    }
    // As a host sends it: pictures of trees pack well.
    const sent = gzipSync(JSON.stringify(notebook)).length;
    assert.ok(sent < 45_000, `${sent} bytes are small enough for a phone`);
  });

  test(`notebooks/${name} asks each of its exercises once`, () => {
    const code = sourceOf(read(name), "code").join("\n");
    const asked = [...code.matchAll(/exercise\("([^"]+)"/g)].map(([, asks]) => asks);
    const own = Object.keys(exercises).filter((known) => known.startsWith(name.slice(0, 2)));
    assert.deepEqual(asked, own);
    assert.ok(asked.length >= 3 && asked.length <= 4, `${asked.length} exercises`);
  });
}

test("notebooks/README.md lists every lesson", () => {
  const index = readFileSync(new URL("README.md", folder), "utf8");
  for (const name of lessons) assert.ok(index.includes(`(${name})`), `${name} is not listed`);
});
