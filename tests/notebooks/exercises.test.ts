import assert from "node:assert/strict";
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { root, run } from "../cli/notebook-run.js";
import { joinLines, type Multiline } from "../../kernel/notebook/notebook.js";
import { readNotebook } from "../../kernel/notebook/read.js";

// What a learner types in place of `undefined`, by cell.
const answers: Record<string, [from: string, to: string, verdict: RegExp]> = {
  "exercise-uniform": ["= undefined", "= Math.log(8)", /^right: eight times/],
  "exercise-entropy": [
    "return undefined;",
    "return -p.reduce((h, x) => h + x * Math.log(x), 0);",
    /^wrong: for \(\[1, 0\]\) it gives NaN/,
  ],
  "exercise-top-p": ["return undefined;", "return undefined;", /^not yet: sort a copy/],
};

test("a learner's answers are judged in the cell they are written in", async () => {
  const folder = mkdtempSync(join(tmpdir(), "exercises-"));
  const given = join(folder, "given.ipynb");
  cpSync(join(root, "notebooks/01-tokens-and-entropy.ipynb"), given);
  const { notebook } = readNotebook(given);
  const cells = notebook.cells
    .filter((cell) => cell.id !== undefined && cell.id in answers)
    .map((cell) => {
      const [from, to] = answers[cell.id!]!;
      const source = joinLines(cell.source);
      assert.ok(source.includes(from));
      return { ...cell, source: source.replace(from, to) };
    });
  assert.equal(cells.length, Object.keys(answers).length);
  writeFileSync(given, JSON.stringify({ ...notebook, cells }));

  const out = join(folder, "out.ipynb");
  const { code, stderr } = await run(given, "--out", out);
  assert.equal(code, 0, stderr);
  for (const cell of readNotebook(out).notebook.cells) {
    const [output] = cell.outputs ?? [];
    assert.ok(output !== undefined && "data" in output);
    assert.match(joinLines(output.data["text/plain"] as Multiline), answers[cell.id!]![2]);
    assert.match(joinLines(output.data["text/html"] as Multiline), /border-left/);
  }
  rmSync(folder, { recursive: true });
});
