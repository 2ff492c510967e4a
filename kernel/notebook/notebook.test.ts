import assert from "node:assert/strict";
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
  lstatSync,
} from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { joinLines, type NotebookCell, splitLines } from "./notebook.js";
import { OutputCollector } from "./execute.js";
import { injectParameters, parseParameter } from "./parameters.js";
import { parseNotebook, readNotebook } from "./read.js";
import { validateNotebook } from "./validate.js";
import { emptyNotebook, notebookText, writeAtomically, writeNotebook } from "./write.js";
import { temporaryFolder } from "../../tests/temporary.js";

const folder = (): string => temporaryFolder("notebook");

const code = (source: string, extra: object = {}): NotebookCell => ({
  cell_type: "code",
  execution_count: null,
  id: `c${source.length}`,
  metadata: {},
  outputs: [],
  source,
  ...extra,
});

const lab = `{
 "cells": [
  {
   "attachments": {
    "a.png": {
     "image/png": "AQI="
    }
   },
   "cell_type": "markdown",
   "id": "0a-B_9",
   "metadata": {
    "zz": 1,
    "mine": {
     "nested": [
      1.5,
      null
     ]
    }
   },
   "source": [
    "# é 🎈\\n",
    "text"
   ]
  },
  {
   "cell_type": "code",
   "execution_count": 3,
   "id": "x",
   "metadata": {},
   "outputs": [
    {
     "data": {
      "application/vnd.plotly.v1+json": {
       "data": []
      },
      "text/plain": [
       "1"
      ]
     },
     "execution_count": 3,
     "metadata": {},
     "output_type": "execute_result"
    }
   ],
   "source": []
  }
 ],
 "metadata": {
  "unknown": true,
  "kernelspec": {
   "name": "tslab"
  }
 },
 "nbformat": 4,
 "nbformat_minor": 5
}
`;

test("parseNotebook() and notebookText() keep a file byte for byte", () => {
  assert.equal(notebookText(parseNotebook(lab)), lab);
  const four = lab.replace(/^ +/gm, (s) => "    ".repeat(s.length)).trimEnd();
  assert.equal(notebookText(parseNotebook(four)), four);
  const one = JSON.stringify(JSON.parse(lab));
  assert.equal(notebookText(parseNotebook(one)), one);
});

test("parseNotebook() gives older cells ids, the same each time", () => {
  const old = { nbformat: 4, nbformat_minor: 2, metadata: {}, cells: [code("1"), code("1")] };
  const text = JSON.stringify(old, (key, value: unknown) => (key === "id" ? undefined : value));
  const ids = (): string[] => parseNotebook(text).notebook.cells.map((cell) => cell.id);
  assert.deepEqual(ids(), ids());
  assert.equal(new Set(ids()).size, 2);
  assert.equal(parseNotebook(text).notebook.nbformat_minor, 5);
});

test("validateNotebook() names the place and the rule", () => {
  const nb = (cells: unknown[], extra: object = {}) => ({
    nbformat: 4,
    nbformat_minor: 5,
    metadata: {},
    cells,
    ...extra,
  });
  const cases: [unknown, RegExp][] = [
    [[], /the file must be an object, got \[\]/],
    [{ nbformat: 3, worksheets: [] }, /nbformat must be 4 .*got 3/],
    [nb([], { metadata: null }), /metadata must be an object, got null/],
    [nb([], { nbformat_minor: "5" }), /nbformat_minor must be a whole number, got "5"/],
    [
      nb([{ ...code("1"), source: 5 }]),
      /cells\[0\]\.source must be text or a list of lines, got 5/,
    ],
    [nb([{ ...code("1"), outputs: undefined }]), /cells\[0\]\.outputs must be a list, got nothing/],
    [nb([{ ...code("1"), id: "a b" }]), /cells\[0\]\.id must be 1 to 64/],
    [nb([code("1"), code("2")]), /cells\[1\]\.id must be different from that of cells\[0\]/],
    [nb([{ ...code("1"), execution_count: -1 }]), /execution_count must be null or a whole number/],
    [nb([{ ...code("1"), cell_type: "markdown" }]), /outputs must be absent in a markdown cell/],
    [
      nb([{ ...code("1"), outputs: [{ output_type: "x" }] }]),
      /outputs\[0\]\.output_type must be stream/,
    ],
    [
      nb([
        {
          ...code("1"),
          outputs: [{ output_type: "display_data", data: { "text/plain": 1 }, metadata: {} }],
        },
      ]),
      /data\["text\/plain"\] must be text/,
    ],
    [nb([{ ...code("1"), metadata: { tags: ["a", "a"] } }]), /tags must be different/],
  ];
  for (const [value, message] of cases) assert.throws(() => validateNotebook(value), message);
});

test("parseNotebook() says where JSON ends being JSON", () => {
  assert.throws(() => parseNotebook("{", "x.ipynb"), /Cannot read notebook: x\.ipynb must be JSON/);
  assert.throws(
    () => readNotebook(join(folder(), "none.ipynb")),
    /must be a readable file.*ENOENT/,
  );
});

test("writeNotebook() replaces the file, keeps links, leaves nothing beside it", () => {
  const dir = folder();
  writeFileSync(join(dir, "real.ipynb"), "old");
  symlinkSync("real.ipynb", join(dir, "link.ipynb"));
  writeNotebook(join(dir, "link.ipynb"), emptyNotebook());
  assert.ok(lstatSync(join(dir, "link.ipynb")).isSymbolicLink());
  assert.deepEqual(readNotebook(join(dir, "real.ipynb")), emptyNotebook());
  assert.deepEqual(readdirSync(dir).sort(), ["link.ipynb", "real.ipynb"]);
});

test("writeAtomically() fails whole: missing folder, folder in the way, full disk", () => {
  const dir = folder();
  mkdirSync(join(dir, "folder"));
  writeFileSync(join(dir, "file"), "kept");
  assert.throws(() => writeAtomically(join(dir, "no", "x.ipynb"), "x"), /Cannot write .*ENOENT/);
  assert.throws(() => writeAtomically(join(dir, "file", "x.ipynb"), "x"), /Cannot write .*ENOTDIR/);
  assert.throws(() => writeAtomically(join(dir, "folder"), "x"), /Cannot write .*EISDIR/);
  if (process.platform === "linux") {
    assert.throws(() => writeAtomically("/dev/full", "x"), /Cannot write \/dev\/full: ENOSPC/);
  }
  assert.equal(readFileSync(join(dir, "file"), "utf8"), "kept");
  assert.deepEqual(readdirSync(dir).sort(), ["file", "folder"]);
});

test("OutputCollector joins streams, replaces displays everywhere and clears", () => {
  const collector = new OutputCollector();
  const [a, b] = [code("a"), code("bb")];
  const display = (type: string, text: string) => ({
    type,
    content: { data: { "text/plain": text }, metadata: {}, transient: { display_id: "d" } },
  });
  const stream = (name: string, text: string) => ({ type: "stream", content: { name, text } });
  collector.take(a, stream("stdout", "1\n2"));
  collector.take(a, stream("stdout", "3\n"));
  collector.take(a, stream("stderr", "e"));
  collector.take(a, display("display_data", "x\ny"));
  collector.take(b, display("display_data", "x"));
  collector.take(b, display("update_display_data", "new"));
  assert.equal(collector.take(b, { type: "status", content: {} }), false);
  collector.settle();
  const shown = { data: { "text/plain": ["new"] }, metadata: {}, output_type: "display_data" };
  assert.deepEqual(a.outputs, [
    { name: "stdout", output_type: "stream", text: ["1\n", "23\n"] },
    { name: "stderr", output_type: "stream", text: ["e"] },
    shown,
  ]);
  assert.deepEqual(b.outputs, [shown]);
  collector.take(a, { type: "clear_output", content: { wait: true } });
  assert.equal(a.outputs?.length, 3);
  collector.take(a, stream("stdout", "after"));
  collector.settle();
  assert.deepEqual(a.outputs, [{ name: "stdout", output_type: "stream", text: ["after"] }]);
  collector.take(a, { type: "clear_output", content: {} });
  assert.deepEqual(a.outputs, []);
});

test("OutputCollector leaves out a display that was emptied", () => {
  const collector = new OutputCollector();
  const cell = code("a");
  const display = (type: string, data: object) => ({
    type,
    content: { data, metadata: {}, transient: { display_id: "d" } },
  });
  collector.take(cell, display("display_data", { "text/plain": "answering 1/2" }));
  collector.take(cell, display("update_display_data", {}));
  collector.settle();
  assert.deepEqual(cell.outputs, []);
});

test("OutputCollector keeps binary types whole and JSON types objects", () => {
  const collector = new OutputCollector();
  const cell = code("a");
  const data = {
    "text/plain": "t",
    "image/png": "AA==\n",
    "image/svg+xml": "<svg>\n</svg>",
    "application/json": { a: "b\nc" },
  };
  collector.take(cell, {
    type: "execute_result",
    content: { data, metadata: {}, execution_count: 2 },
  });
  assert.deepEqual(cell.outputs?.[0], {
    data: {
      "application/json": { a: "b\nc" },
      "image/png": "AA==\n",
      "image/svg+xml": ["<svg>\n", "</svg>"],
      "text/plain": ["t"],
    },
    execution_count: 2,
    metadata: {},
    output_type: "execute_result",
  });
});

test("OutputCollector takes a hundred thousand pieces in time", () => {
  const collector = new OutputCollector();
  const cell = code("a");
  for (let i = 0; i < 100_000; i++)
    collector.take(cell, { type: "stream", content: { name: "stdout", text: `${i}\n` } });
  collector.settle();
  const [output] = cell.outputs ?? [];
  assert.equal(output?.output_type === "stream" && output.text.length, 100_000);
});

test("parseParameter() reads JSON, and text where it is none", () => {
  assert.deepEqual(["a=1", "b=[1,2]", 'c="1"', "d=x=y", "e=", "f=true"].map(parseParameter), [
    ["a", 1],
    ["b", [1, 2]],
    ["c", "1"],
    ["d", "x=y"],
    ["e", ""],
    ["f", true],
  ]);
  for (const wrong of ["a", "=1", "1a=2", "a b=2"]) {
    assert.throws(() => parseParameter(wrong), /must be NAME=VALUE, got/);
  }
});

test("injectParameters() adds a cell after the tagged one, once", () => {
  const { notebook } = emptyNotebook();
  notebook.cells = [
    code("// first"),
    code('let lr = 0.1;\nlet mode: "a" | "b" = "a";\nconst n = 2;', {
      metadata: { tags: ["parameters"] },
    }),
  ];
  assert.deepEqual(injectParameters(notebook, { lr: 1 }), []);
  assert.deepEqual(injectParameters(notebook, { lr: 2, n: 5, mode: "b", extra: [1] }), ["extra"]);
  assert.equal(notebook.cells.length, 3);
  assert.deepEqual(notebook.cells[2]?.metadata, { tags: ["injected-parameters"] });
  assert.equal(
    joinLines(notebook.cells[2]!.source),
    '// Parameters\nlr = 2;\nlet n = 5;\nmode = "b";\nlet extra = [1];',
  );
  validateNotebook(notebook);
});

test("injectParameters() puts them first where no cell is tagged", () => {
  const { notebook } = emptyNotebook();
  notebook.cells = [code("x")];
  injectParameters(notebook, { x: 1 });
  assert.equal(joinLines(notebook.cells[0]!.source), "// Parameters\nlet x = 1;");
});

test("splitLines() keeps every character", () => {
  for (const text of ["", "a", "a\n", "\n\na", "a\r\nb"])
    assert.equal(splitLines(text).join(""), text);
});
