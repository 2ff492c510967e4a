import assert from "node:assert/strict";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { root, run } from "../../cli/run/test-run.js";
import { joinLines, type Multiline, readNotebook } from "../../kernel/notebook/index.js";

test("notebooks/00-tour.ipynb runs from a clean kernel and shows what it promises", async () => {
  const out = join(mkdtempSync(join(tmpdir(), "tour-")), "tour.ipynb");
  const { code, stderr } = await run(join(root, "notebooks/00-tour.ipynb"), "--out", out, "--html", "--param", "draws=500");
  assert.equal(code, 0, stderr);
  const { notebook } = readNotebook(out);
  const outputs = (id: string) => notebook.cells.find((cell) => cell.id === id)?.outputs ?? [];
  const text = (id: string): string =>
    outputs(id)
      .map((o) => ("data" in o ? joinLines(o.data["text/plain"] as Multiline) : ""))
      .join("\n");
  assert.match(text("records"), /text +entropy\n0 +The +2\.31/);
  const [first] = outputs("display");
  assert.ok(first !== undefined && "data" in first);
  assert.match(joinLines(first.data["text/html"] as Multiline), /<code> is<\/code>/);
  assert.match(text("draws"), /draws +100% .* 500\/500[^]*Float32Array\(500\)/);
  assert.match(text("tensor"), /Tensor float32 \[10, 50\]/);
  assert.match(text("entropy"), /Tensor float32 \[10\]/);
  assert.match(readFileSync(out.replace(".ipynb", ".html"), "utf8"), /<math display="block"/);
});
