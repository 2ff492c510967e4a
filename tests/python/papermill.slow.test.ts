// papermill itself runs notebooks with parameters, through data/papermill: needs a Python with papermill
// (ARPO_LAB_PYTHON, else python3) and is skipped, saying so, where there is none.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { emptyNotebook, writeNotebook } from "../../kernel/notebook/write.js";
import { joinLines, type Notebook } from "../../kernel/notebook/notebook.js";
import { parseNotebook, readNotebook } from "../../kernel/notebook/read.js";
import { injectParameters } from "../../kernel/notebook/parameters.js";

const python = process.env.ARPO_LAB_PYTHON ?? "python3";
const { status } = spawnSync(python, ["-c", "import papermill"]);
const skip =
  status === 0 ? false : `${python} has no papermill; set ARPO_LAB_PYTHON to one that has`;
const root = fileURLToPath(new URL("../../../", import.meta.url));
const folder = join(root, "data", "papermill");
const prefix = mkdtempSync(join(tmpdir(), "arpo-papermill-"));
const out = join(prefix, "out.ipynb");
const env = {
  ...process.env,
  JUPYTER_PATH: join(prefix, "share", "jupyter"),
  ARPO_LAB_DATA: join(prefix, "data"),
  PYTHONPATH: folder,
  PYTHONDONTWRITEBYTECODE: "1",
};
after(() => rmSync(prefix, { recursive: true }));
before(() => {
  if (skip !== false) return;
  const bin = join(root, "apps/cli/bin/arpo-lab.mjs");
  const installed = spawnSync(process.execPath, [bin, "kernel", "install", "--prefix", prefix]);
  assert.equal(installed.status, 0);
});

const spec = { display_name: "TypeScript (arpo-lab)", language: "typescript", name: "arpo-lab" };

/** A notebook of code cells, the first of them tagged `parameters` unless it is blank. */
function notebookOf(parameters: string, ...sources: string[]): string {
  const path = join(prefix, "in.ipynb");
  const file = emptyNotebook();
  file.notebook.metadata["kernelspec"] = spec;
  file.notebook.cells = [parameters, ...sources].filter(Boolean).map((source, i) => ({
    cell_type: "code",
    execution_count: null,
    id: `cell-${i}`,
    metadata: i === 0 && parameters !== "" ? { tags: ["parameters"] } : {},
    outputs: [],
    source,
  }));
  writeNotebook(path, file);
  return path;
}

function papermill(path: string, ...args: string[]): { status: number | null; said: string } {
  rmSync(out, { force: true });
  const command = [join(folder, "arpo_lab_papermill.py"), path, out, "--no-progress-bar", ...args];
  const ran = spawnSync(python, command, { encoding: "utf8", env, cwd: prefix });
  return { status: ran.status, said: ran.stdout + ran.stderr };
}

/** What the last cell printed, as JSON. */
function printed({ cells }: Notebook): unknown {
  const output = cells.at(-1)!.outputs![0]!;
  assert.ok(output.output_type === "stream", JSON.stringify(output));
  return JSON.parse(joinLines(output.text));
}

const injected = ({ cells }: Notebook): string =>
  joinLines(cells.find(({ metadata }) => JSON.stringify(metadata).includes("injected"))!.source);

test("papermill's parameters have the values and types they were given", { skip }, () => {
  const path = notebookOf(
    'let n = 1;\nconst rate: number = 0.5;\nlet mode: "a" | "b" = "a";',
    'const only = (m: "a" | "b"): string => m;',
    "console.log(JSON.stringify([n + 1, rate * 2, only(mode), lit, none, word, `${far} ${nan}`, deep]));",
  );
  const yaml = '{lit: true, none: null, deep: {list: [1, -2.5, [x, {}]], "a b": {"1": false}}}';
  const more = ["-p", "far", "-inf", "-p", "nan", "nan", "-r", "word", "007", "-y", yaml];
  const pairs = ["-p", "n", "4", "-p", "rate", "1e-05", "-p", "mode", "b"];
  const { status, said } = papermill(path, ...pairs, ...more);
  assert.equal(status, 0, said);
  // papermill's own record of its parameters says NaN, which JSON does not know.
  const text = readFileSync(out, "utf8").replace(/"(far|nan)": (-Infinity|NaN)/g, '"$1": null');
  const deep = { list: [1, -2.5, ["x", {}]], "a b": { "1": false } };
  const expected = [5, 2e-5, "b", true, null, "007", "-Infinity NaN", deep];
  assert.deepEqual(printed(parseNotebook(text).notebook), expected);
  assert.match(said, /Passed unknown parameter: word/);
  assert.doesNotMatch(said, /unknown parameter: (n|rate|mode)\b/);
});

test("papermill's texts and whole numbers arrive unchanged, whatever is in them", { skip }, () => {
  const texts = [
    "\"'`\\${1}",
    "a\r\nb\tc",
    "\u2028\u2029\u0085\u007f\u0000",
    "é 漢 🦊",
    "\ud800",
    "*/ // %%js",
  ];
  const path = notebookOf(
    "",
    "console.log(JSON.stringify([texts, Object.keys(odd), String(seed), typeof seed, String(-low), typeof safe]));",
  );
  const yaml = JSON.stringify({
    texts,
    odd: JSON.parse('{"__proto__": 1, "line\\nbreak": 2}') as unknown,
    safe: Number.MAX_SAFE_INTEGER,
  });
  // YAML has no half surrogate pairs: through Python's own json.
  writeFileSync(join(prefix, "values.json"), yaml);
  const code = `
import json, sys, papermill, arpo_lab_papermill
values = json.load(open("values.json"))
values.update(seed=2**64 + 1, low=-2**53)
notebook = papermill.execute_notebook(sys.argv[1], None, values, progress_bar=False)
print(notebook.cells[-1].outputs[0].text)
`;
  const ran = spawnSync(python, ["-c", code, path], { encoding: "utf8", env, cwd: prefix });
  assert.equal(ran.status, 0, ran.stderr);
  const expected = [
    texts,
    ["__proto__", "line\nbreak"],
    `${2n ** 64n + 1n}`,
    "bigint",
    `${2n ** 53n}`,
    "number",
  ];
  assert.deepEqual(JSON.parse(ran.stdout), expected);
});

test("papermill's cell is the one that arpo-lab run writes, in either language", { skip }, () => {
  const path = notebookOf("let n = 1;\nlet $a = 2, b = 3;\nconst c: string = 'x';", "n");
  const values = { n: 4, $a: [1, 2.5], b: null, c: 'é "q"\n', fresh: { k: true } };
  const { notebook } = readNotebook(path);
  injectParameters(notebook, values);
  const compact = (text: string): string => text.replace(/([,:]) /g, "$1");
  for (const kernel of ["arpo-lab", "arpo-lab-js"]) {
    const ran = papermill(path, "--prepare-only", "-k", kernel, "-y", JSON.stringify(values));
    assert.equal(ran.status, 0, ran.said);
    assert.equal(compact(injected(readNotebook(out).notebook)), compact(injected(notebook)));
  }
  const plain = notebookOf("let n = 1;\nconst c = 'x';", "console.log(JSON.stringify([n, c]));");
  const ran = papermill(plain, "-k", "arpo-lab-js", "-p", "n", "4", "-p", "c", "y");
  assert.equal(ran.status, 0, ran.said);
  assert.deepEqual(printed(readNotebook(out).notebook), [4, "y"]);
});

test("a notebook does not take the declarations of the one inspected before it", { skip }, () => {
  const path = notebookOf("let n = 1;");
  const code = `
import sys, papermill, arpo_lab_papermill
from nbformat import v4
cells = [v4.new_code_cell("let n = 1;", metadata={"tags": ["parameters"]})]
metadata = {"kernelspec": ${JSON.stringify(spec)}}
run = lambda cells: papermill.execute_notebook(
  v4.new_notebook(cells=cells, metadata=metadata), None, {"n": 2}, prepare_only=True)
kept = run(cells)
print(kept.cells[1].source.splitlines()[1], run([]).cells[0].source.splitlines()[1])
papermill.inspect_notebook(sys.argv[1])
print(run([]).cells[0].source.splitlines()[1])
`;
  const ran = spawnSync(python, ["-c", code, path], { encoding: "utf8", env, cwd: prefix });
  assert.equal(ran.stdout, "n = 2; let n = 2;\nlet n = 2;\n", ran.stderr);
});

test("a cell that fails, or a parameter of another type, is papermill's error", { skip }, () => {
  const path = notebookOf("let n = 1;", "if (n > 3) throw new RangeError(`n is ${n}`);", "n");
  const failed = papermill(path, "-p", "n", "4");
  assert.equal(failed.status, 1);
  assert.match(failed.said, /PapermillExecutionError[^]*In \[3\][^]*RangeError: n is 4/);
  assert.match(readFileSync(out, "utf8"), /An Exception was encountered at/);
  const wrong = papermill(path, "-p", "n", "four");
  assert.equal(wrong.status, 1);
  assert.match(wrong.said, /In \[2\][^]*'string' is not assignable to type 'number'/);
  const names = { "a-b": "'a-b'", on: "True", "2n": "'2n'" }; // to YAML, "on" is a boolean
  for (const [name, got] of Object.entries(names)) {
    const { status, said } = papermill(path, "-y", `${name}: 1`);
    assert.equal(status, 1);
    assert.ok(said.includes(`its name must be one that a variable can have, got ${got}`), said);
  }
});

test("papermill lists a notebook's parameters with types, defaults and remarks", { skip }, () => {
  const path = notebookOf('let n: number = 4; // rows\nconst url = "http://x//y";\n// let no = 1;');
  const { status, said } = papermill(path, "--help-notebook");
  assert.equal(status, 0, said);
  assert.match(
    said,
    /\n {2}n: number \(default 4\) +rows\n {2}url: Unknown type \(default "http:\/\/x\/\/y"\)\n/,
  );
  assert.doesNotMatch(said, /\bno:/);
});
