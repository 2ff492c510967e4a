// docs/frames.md, followed in an empty folder: its code is run cell by cell, and shows what it says.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "arpo-lab-frames-"));
after(() => rmSync(folder, { recursive: true }));

interface Output {
  output_type: string;
  data?: Record<string, string | string[] | object>;
  evalue?: string;
}

const page = readFileSync(join(root, "docs/frames.md"), "utf8");
const code = [...page.matchAll(/^```ts\n([^]*?)^```$/gm)].map(([, text]) => text!);

/** What the last value of each cell showed, by kind. */
function shown(): Record<string, string>[] {
  const cells = code.map((source, i) => ({
    ...{ cell_type: "code", id: `c${i}`, metadata: {}, outputs: [], execution_count: null, source },
  }));
  const metadata = { kernelspec: { name: "arpo-lab", display_name: "", language: "typescript" } };
  const notebook = { nbformat: 4, nbformat_minor: 5, metadata, cells };
  writeFileSync(join(folder, "frames.ipynb"), JSON.stringify(notebook));
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(root, "apps/cli/bin/arpo-lab.mjs"), "run", "frames.ipynb", "--out", "out.ipynb"],
    { cwd: folder, encoding: "utf8" },
  );
  assert.equal(status, 0, stdout + stderr);
  const out = JSON.parse(readFileSync(join(folder, "out.ipynb"), "utf8")) as {
    cells: { outputs: Output[] }[];
  };
  return out.cells.map(({ outputs }) => {
    const data = outputs.findLast(({ output_type }) => output_type === "execute_result")?.data;
    return Object.fromEntries(
      Object.entries(data ?? {}).map(([kind, value]) => [
        kind,
        Array.isArray(value)
          ? value.join("")
          : typeof value === "string"
            ? value
            : JSON.stringify(value),
      ]),
    );
  });
}

test("docs/frames.md: each piece of code runs in a cell and shows a table, a figure or a value", () => {
  const cells = shown();
  const text = cells.map((cell) => cell["text/plain"] ?? "");
  const tables = cells.filter((cell) => /<table/.test(cell["text/html"] ?? ""));
  assert.equal(tables.length, 7);
  assert.match(text[0]!, /4 rows × 3 columns: algorithm string, seed int32, reward float32/);
  assert.match(text[1]!, /arpo[^]*1\b[^]*grpo[^]*0\.75[^]*arpo[^]*0\.5/);
  assert.match(text[2]!, /reward_mean[^]*0\.5[^]*0\.75/);
  assert.match(text[3]!, /year/);
  assert.match(text[4]!, /variance/);
  assert.match(text[5]!, /score_mean/);
  assert.match(text[6]!, /entropy/);
  const figure = JSON.parse(cells[7]!["application/vnd.plotly.v1+json"]!) as { data: object[] };
  assert.equal(figure.data.length, 1);
  assert.match(text[8]!, /4, 3/);
  assert.match(
    readFileSync(join(folder, "runs.csv"), "utf8"),
    /^algorithm,seed,reward\ngrpo,1,0\.25\n/,
  );
});
