import assert from "node:assert/strict";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { readNotebook } from "../../../kernel/notebook/read.js";
import { notebookOf, run, runIn, shown, writeBeside } from "../../../tests/cli/notebook-run.js";

test("run executes a notebook into another file, which stays valid, and says how far it is", async () => {
  const path = notebookOf(
    "const a: number = 20;\na + 1",
    'import { n } from "./beside.ts";\nconsole.log(n * a);',
    "",
  );
  writeBeside(path, "beside.ts", "export const n: number = 2;");
  const before = readFileSync(path, "utf8");
  const out = join(dirname(path), "deep/out.ipynb");
  const { code, stderr } = await run(path, "--out", out);
  assert.equal(code, 0, stderr);
  assert.deepEqual(shown(out), ["21", "40\n", ""]);
  assert.equal(readFileSync(path, "utf8"), before);
  const { notebook } = readNotebook(out);
  assert.equal(notebook.cells[0]?.execution_count, 1);
  assert.deepEqual(Object.keys(notebook.metadata).sort(), ["kernelspec", "language_info"]);
  assert.match(stderr, /cell 1 of 2 {2}ok .*\n.*cell 2 of 2 {2}ok/);
  assert.deepEqual(readdirSync(dirname(out)), ["out.ipynb"]);
});

test("run stops at an error: 1, the cell and line, what ran kept, what did not run empty", async () => {
  const path = notebookOf("1", "const f = () => {\n  throw new RangeError('bad');\n};\nf();", "3");
  const { code, stderr } = await run(path);
  assert.equal(code, 1);
  assert.deepEqual(shown(path), ["1", "RangeError: bad", ""]);
  assert.match(stderr, /nb\.ipynb: cell 2, line 2, column 9: RangeError: bad/);
  assert.match(stderr, /throw new RangeError\('bad'\)/);
  assert.doesNotMatch(stderr, /\x1b\[/);
});

test("run names the place of a type error and runs nothing of the cell", async () => {
  const path = notebookOf("console.log('ran');\nconst s: string = 1;");
  const { code, stderr } = await run(path);
  assert.equal(code, 1);
  assert.match(stderr, /cell 1, line 2, column 7: .*not assignable to type 'string'/);
  assert.doesNotMatch(shown(path)[0]!, /ran/);
});

test("run goes on with --allow-errors, skips and expects failures by tag", async () => {
  const path = notebookOf(
    "throw new Error('one')",
    { source: "throw new Error('two')", tags: ["raises-exception"] },
    { source: "4", tags: ["skip-execution"] },
    "5",
  );
  const tolerant = await run(path, "--allow-errors");
  assert.equal(tolerant.code, 0, tolerant.stderr);
  assert.deepEqual(shown(path), ["Error: one", "Error: two", "", "5"]);
  assert.match(tolerant.stderr, /3 cells in .*, 1 failed/);
});

test("run sets parameters, checked by the types they were declared with", async () => {
  const path = notebookOf(
    { source: 'let lr = 0.1;\nlet mode: "a" | "b" = "a";', tags: ["parameters"] },
    "`${lr} ${mode} ${extra.length}`",
  );
  const ok = await run(path, "--param", "lr=1e-3", "--param", "mode=b", "--param", "extra=[1,2]");
  assert.equal(ok.code, 0, ok.stderr);
  assert.equal(shown(path).at(-1), "'0.001 b 2'");
  assert.match(ok.stderr, /no cell tagged 'parameters' mentions extra/);
  const wrong = await run(path, "--param", "mode=c", "--param", "extra=[]");
  assert.equal(wrong.code, 1);
  assert.match(wrong.stderr, /cell 2, line 2, .*"c".*is not assignable/);
});

test("run --html writes a page beside the result", async () => {
  const path = notebookOf(
    'import { display } from "arpo-lab/kernel";\ndisplay.html("<b id=x>hi</b>");',
  );
  const { code } = await run(path, "--html");
  assert.equal(code, 0);
  assert.match(readFileSync(path.replace(".ipynb", ".html"), "utf8"), /<b id=x>hi<\/b>/);
});

test("run refuses what it cannot read or write before anything runs", async () => {
  const path = notebookOf("console.log(1)");
  const broken = writeBeside(
    path,
    "broken.ipynb",
    '{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [{}]}',
  );
  const cases: [string[], RegExp][] = [
    [[broken], /cells\[0\]\.cell_type must be code, markdown or raw, got nothing/],
    [[join(dirname(path), "none.ipynb")], /must be a readable file, got ENOENT/],
    [[path, "--out", join(path, "x.ipynb")], /Cannot write .*(?:ENOTDIR|EEXIST)|ENOTDIR|EEXIST/],
    [[path, "--kernel", "nobody"], /must be one of arpo-lab, arpo-lab-js.*got nobody/],
    [[path, "--timeout", "-1"], /must be a number of seconds above 0/],
    [[path, "--param", "x"], /must be NAME=VALUE, got 'x'/],
  ];
  if (process.platform === "linux")
    cases.push([[path, "--out", "/dev/full"], /must be a regular file or a folder, got a device/]);
  await Promise.all(
    cases.map(async ([args, message]) => {
      const { code, stderr } = await run(...args);
      assert.notEqual(code, 0);
      assert.match(stderr, message);
    }),
  );
  assert.deepEqual(shown(path), [""]);
});

test("run keeps a file's mode and everything in it that it does not know", async () => {
  const path = notebookOf("1");
  const file = JSON.parse(readFileSync(path, "utf8")) as {
    cells: { metadata: object }[];
    metadata: object;
  };
  file.metadata = {
    zebra: { b: 1, a: [2] },
    kernelspec: { name: "tslab", display_name: "TypeScript", language: "typescript" },
  };
  file.cells[0]!.metadata = { mine: { x: null } };
  writeBeside(path, "nb.ipynb", JSON.stringify(file, null, 1));
  const { mode } = statSync(path);
  assert.equal((await run(path)).code, 0);
  const { notebook } = readNotebook(path);
  assert.deepEqual(notebook.metadata["zebra"], { b: 1, a: [2] });
  assert.deepEqual(Object.keys(notebook.metadata), ["zebra", "kernelspec", "language_info"]);
  assert.deepEqual(notebook.cells[0]?.metadata, { mine: { x: null } });
  assert.equal(statSync(path).mode, mode);
  assert.ok(existsSync(path));
});

test("run leaves a notebook alone where its kernel cannot start", async () => {
  const path = notebookOf("1");
  assert.equal((await run(path)).code, 0);
  const before = readFileSync(path, "utf8");
  const kernels = join(dirname(path), "kernels/broken");
  mkdirSync(kernels, { recursive: true });
  const spec = {
    argv: [process.execPath, "-e", "console.error('no luck'); process.exit(3)"],
    display_name: "Broken",
    language: "klingon",
  };
  writeFileSync(join(kernels, "kernel.json"), JSON.stringify(spec));
  const env = { JUPYTER_DATA_DIR: dirname(path) };
  const { code, stderr } = await runIn(env, path, "--kernel", "broken");
  assert.equal(code, 2);
  assert.match(stderr, /The kernel broken ended with code 3; it last wrote:\nno luck/);
  assert.equal(readFileSync(path, "utf8"), before);
  const parameters = await runIn(env, path, "--kernel", "broken", "--param", "a=1");
  assert.match(parameters.stderr, /must be TypeScript or JavaScript, got klingon/);
});

if (process.platform !== "win32" && process.getuid?.() !== 0) {
  // A superuser may write anywhere.
  test("run refuses a notebook or a folder that is read-only, before anything runs", async () => {
    const path = notebookOf("1");
    for (const [what, mode, back] of [
      [path, 0o444, 0o644],
      [dirname(path), 0o555, 0o755],
    ] as const) {
      chmodSync(what, mode);
      const { code, stderr } = await run(path);
      chmodSync(what, back);
      assert.equal(code, 2);
      assert.match(stderr, /must be writable \(or use --out\), got EACCES/);
    }
    assert.deepEqual(shown(path), [""]);
  });
}
