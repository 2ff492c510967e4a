import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { root, run } from "../cli/notebook-run.js";
import { joinLines, type Multiline } from "../../kernel/notebook/notebook.js";
import { readNotebook } from "../../kernel/notebook/read.js";

test("notebooks/00-tour.ipynb runs from a clean kernel and shows what it promises", async () => {
  const folder = mkdtempSync(join(tmpdir(), "tour-"));
  const out = join(folder, "tour.ipynb");
  const { code, stderr } = await run(
    join(root, "notebooks/00-tour.ipynb"),
    "--out",
    out,
    "--html",
    "--param",
    "n=8",
  );
  assert.equal(code, 0, stderr);
  const { notebook } = readNotebook(out);
  const outputs = (id: string) => notebook.cells.find((cell) => cell.id === id)?.outputs ?? [];
  const shown = (id: string, mime = "text/plain"): string =>
    outputs(id)
      .map((o) => ("data" in o && o.data[mime] ? joinLines(o.data[mime] as Multiline) : ""))
      .join("\n");
  assert.match(shown("tree"), /RolloutTree: 8 trajectories/);
  assert.match(shown("tree", "text/html"), /class="[^"]*\barpo-explorer\b/);
  assert.match(shown("score"), /^8 trajectories, mean score/);
  assert.match(shown("update"), /AEPO keeps \d+ of the \d+ gradients that PPO drops/);
  assert.match(shown("stage"), /RolloutTree: 8 trajectories .* aepo-code/);
  assert.match(shown("tensors"), /Tensor float32 \[4, 50\]/);
  assert.match(shown("progress", "text/html"), /<b>40<\/b> so far, 8 trajectories/);
  assert.match(shown("exercise-roots"), /^not yet: /);
  assert.match(readFileSync(out.replace(".ipynb", ".html"), "utf8"), /not yet/);
  rmSync(folder, { recursive: true });
});
