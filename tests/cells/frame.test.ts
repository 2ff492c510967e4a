// danfojs in cells, from a folder without packages: its types, and how its values are shown.
import assert from "node:assert/strict";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { display } from "../../kernel/cells.js";
import { TestSession } from "./test-session.js";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "arpo-lab-cells-frame-")));
after(() => rmSync(folder, { recursive: true }));

test("a cell's frames are typed and completed, and shown as a table or a figure", async () => {
  const s = new TestSession(folder);
  await s.run(`import { DataFrame, toFrame } from "arpo-lab/view";
    const frame = toFrame([{ name: "a", n: 1 }, { name: "b", n: 2 }]);`);
  const asked = "frame.groupb";
  const { matches } = await s.compiler.complete(asked, asked.length, folder);
  assert.deepEqual(matches, ["groupby"]);
  const chained = "frame.head(1).desc";
  const answer = await s.compiler.complete(chained, chained.length, folder);
  assert.deepEqual(answer.matches, ["describe"]);
  assert.match((await s.errors("frame.head('x')"))[0] ?? "", /'string' is not assignable/);

  const shown = async (source: string) => {
    const value = await s.run(source);
    await s.host.within(async () => {
      s.host.calls.length = 0;
      await display(value);
    });
    return s.host.calls[0]!.bundle!;
  };
  const table = await shown("frame.sortValues('n', { ascending: false })");
  assert.match(String(table["text/plain"]), /2 rows × 2 columns: name string, n int32/);
  assert.match(String(table["text/html"]), /<table/);
  const series = await shown("frame.column('n')");
  assert.match(String(series["text/plain"]), /2 rows × 1 column/);
  const figure = await shown("frame.plot().bar({ config: { x: 'name', y: 'n' } })");
  assert.ok("application/vnd.plotly.v1+json" in figure);
});
