import assert from "node:assert/strict";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ErrorResponse, toErrorResponse } from "../../../common/http-server/error-response.js";
import { packagePath } from "../../../common/platform/node/modules.js";
import { Contents } from "./contents.js";
import { shippedNotebooks } from "./shipped.js";
import { temporaryFolder } from "../../../tests/temporary.js";

const newFolder = (): string => temporaryFolder("contents");
const withStatus = (status: number) => (error: unknown) =>
  error instanceof ErrorResponse && error.status === status;
const cell = (source: string, outputs: unknown[] = [], metadata = {}): unknown => ({
  cell_type: "code",
  execution_count: null,
  id: "a1",
  metadata,
  outputs,
  source,
});
const notebook = (...cells: unknown[]): Record<string, unknown> => ({
  cells,
  metadata: {},
  nbformat: 4,
  nbformat_minor: 5,
});

test("Contents.get() lists a folder without hidden files", async () => {
  const folder = newFolder();
  writeFileSync(join(folder, "b.txt"), "b");
  writeFileSync(join(folder, ".c"), "c");
  mkdirSync(join(folder, "a"));
  const { content, type } = await new Contents(folder).get("");
  assert.equal(type, "directory");
  assert.deepEqual(
    (content as { name: string }[]).map((m) => m.name),
    ["a", "b.txt"],
  );
});

test("Contents.get() tells text, bytes and notebooks apart", async () => {
  const folder = newFolder();
  writeFileSync(join(folder, "t.md"), "é\n");
  writeFileSync(join(folder, "b.bin"), Buffer.from([0xff, 0, 1]));
  writeFileSync(join(folder, "n.ipynb"), JSON.stringify(notebook(cell("1"))));
  writeFileSync(join(folder, "bad.ipynb"), "{");
  const contents = new Contents(folder);
  const text = await contents.get("t.md", { hash: true });
  assert.deepEqual([text.format, text.content, text.mimetype], ["text", "é\n", "text/markdown"]);
  assert.match(String(text.hash), /^[0-9a-f]{64}$/);
  assert.deepEqual(
    [(await contents.get("b.bin")).format, (await contents.get("b.bin")).content],
    ["base64", "/wAB"],
  );
  await assert.rejects(
    async () => await contents.get("b.bin", { format: "text" }),
    withStatus(400),
  );
  assert.equal((await contents.get("n.ipynb")).type, "notebook");
  assert.equal((await contents.get("n.ipynb", { type: "file" })).format, "text");
  await assert.rejects(async () => await contents.get("bad.ipynb"), withStatus(400));
  assert.equal((await contents.get("bad.ipynb", { content: false })).content, null);
});

test("Contents.save() writes notebooks as Jupyter does, and reads back what was saved", async () => {
  const folder = newFolder();
  const contents = new Contents(folder);
  const output = { output_type: "stream", name: "stdout", text: "one\ntwo" };
  const content = notebook(cell("a\nb", [output], { trusted: true }));
  const { created } = await contents.save("n.ipynb", { type: "notebook", format: "json", content });
  assert.ok(created);
  const file = readFileSync(join(folder, "n.ipynb"), "utf8");
  assert.ok(file.startsWith('{\n "cells": [\n  {\n   "cell_type": "code"') && file.endsWith("}\n"));
  const saved = JSON.parse(file) as {
    cells: { source: unknown; metadata: object; outputs: { text: unknown }[] }[];
  };
  assert.deepEqual(saved.cells[0]!.source, ["a\n", "b"]);
  assert.deepEqual(saved.cells[0]!.outputs[0]!.text, ["one\n", "two"]);
  assert.deepEqual(saved.cells[0]!.metadata, {});
  assert.deepEqual((await contents.get("n.ipynb")).content, content);
});

test("Contents.get() trusts outputs that were made here and no others", async () => {
  const folder = newFolder();
  const trustFile = join(newFolder(), "trusted");
  const output = { output_type: "stream", name: "stdout", text: "x" };
  const trusted = async (contents: Contents): Promise<unknown> => {
    const { cells } = (await contents.get("n.ipynb")).content as {
      cells: { metadata: { trusted?: boolean } }[];
    };
    return cells[0]!.metadata.trusted;
  };
  const contents = new Contents(folder, { trustFile });
  writeFileSync(join(folder, "n.ipynb"), JSON.stringify(notebook(cell("1", [output]))));
  assert.equal(await trusted(contents), false);
  await contents.save("n.ipynb", { content: notebook(cell("1", [output], { trusted: false })) });
  assert.equal(await trusted(contents), false);
  await contents.save("n.ipynb", { content: notebook(cell("1", [output], { trusted: true })) });
  assert.equal(await trusted(new Contents(folder, { trustFile })), true);
  writeFileSync(join(folder, "n.ipynb"), JSON.stringify(notebook(cell("2", [output]))));
  assert.equal(await trusted(new Contents(folder, { trustFile })), false);
});

test("Contents.get() trusts a notebook that came with the package until a byte of it changes", async () => {
  const folder = newFolder();
  const shipped = readFileSync(packagePath("notebooks/00-tour.ipynb"), "utf8");
  const trusted = async (text: string, name = "n.ipynb"): Promise<boolean> => {
    writeFileSync(join(folder, name), text);
    const contents = new Contents(folder, { shipped: shippedNotebooks() });
    const { cells } = (await contents.get(name)).content as {
      cells: { cell_type: string; metadata: { trusted?: boolean } }[];
    };
    return cells.every(({ cell_type, metadata }) => cell_type !== "code" || metadata.trusted);
  };
  assert.equal(await trusted(shipped), true);
  assert.equal(await trusted(shipped, "another-name.ipynb"), true);
  assert.equal(await trusted(shipped.replace("<svg", "<svg ")), false);
  assert.equal(await trusted(`${shipped} `), false);
  assert.equal(await trusted(shipped.replace("let n = 16", "let n = 17")), false);
});

test("Contents.get() lists no path that is left out, and opens it", async () => {
  const folder = newFolder();
  mkdirSync(join(folder, "notebooks", "exercises"), { recursive: true });
  mkdirSync(join(folder, "src"));
  writeFileSync(join(folder, "src", "a.txt"), "a");
  writeFileSync(join(folder, "mine.txt"), "mine");
  const contents = new Contents(folder, { unlisted: ["src", "notebooks/exercises"] });
  const names = async (path: string): Promise<string[]> =>
    ((await contents.get(path)).content as { name: string }[]).map(({ name }) => name);
  assert.deepEqual(await names(""), ["mine.txt", "notebooks"]);
  assert.deepEqual(await names("notebooks"), []);
  assert.equal((await contents.get("src/a.txt")).content, "a");
});

test("Contents.save() takes base64 and chunks", async () => {
  const folder = newFolder();
  const contents = new Contents(folder);
  await contents.save("b.bin", { type: "file", format: "base64", content: "/wAB" });
  assert.deepEqual([...readFileSync(join(folder, "b.bin"))], [255, 0, 1]);
  const part = async (chunk: number, text: string): Promise<unknown> =>
    await contents.save("up.txt", {
      type: "file",
      format: "base64",
      content: Buffer.from(text).toString("base64"),
      chunk,
    });
  await part(1, "one ");
  await part(2, "two ");
  await part(-1, "three");
  assert.equal(readFileSync(join(folder, "up.txt"), "utf8"), "one two three");
  await assert.rejects(
    async () => await contents.save("x", { type: "file", format: "base64", content: "?!" }),
    withStatus(400),
  );
});

test("Contents.save() leaves the old file when the disk is full or read-only", async () => {
  const folder = newFolder();
  writeFileSync(join(folder, "a.txt"), "old");
  let code = "";
  const full = new Contents(folder, {
    write: () => {
      throw new Error("Cannot write", {
        cause: Object.assign(new Error("no space"), { code }),
      });
    },
  });
  for (const [error, status] of [
    ["ENOSPC", 507],
    ["EROFS", 403],
    ["EACCES", 403],
  ] as const) {
    code = error;
    await assert.rejects(
      async () => await full.save("a.txt", { type: "file", format: "text", content: "new" }),
      (thrown) => toErrorResponse(thrown).status === status,
    );
  }
  assert.equal(readFileSync(join(folder, "a.txt"), "utf8"), "old");
});

test(
  "Contents.save() refuses a read-only file",
  { skip: process.getuid?.() === 0 && "root may write to every file" },
  async () => {
    const folder = newFolder();
    writeFileSync(join(folder, "a.txt"), "old");
    chmodSync(join(folder, "a.txt"), 0o444);
    const contents = new Contents(folder);
    assert.equal((await contents.get("a.txt")).writable, false);
    await assert.rejects(
      async () => await contents.save("a.txt", { type: "file", format: "text", content: "x" }),
      withStatus(403),
    );
  },
);

test("Contents.save() answers 409 when the file changed underneath", async () => {
  const folder = newFolder();
  const file = join(folder, "a.txt");
  writeFileSync(file, "read");
  const contents = new Contents(folder);
  const { last_modified, hash } = await contents.get("a.txt", { hash: true });
  const save = async (extra: object): Promise<unknown> =>
    await contents.save("a.txt", { type: "file", format: "text", content: "mine", ...extra });
  writeFileSync(file, "theirs");
  const later = new Date(Date.parse(last_modified) + 5000);
  utimesSync(file, later, later);
  await assert.rejects(async () => await save({ last_modified }), withStatus(409));
  await assert.rejects(async () => await save({ hash: hash ?? undefined }), withStatus(409));
  assert.equal(readFileSync(file, "utf8"), "theirs");
  await save({ last_modified: (await contents.get("a.txt")).last_modified });
  assert.equal(readFileSync(file, "utf8"), "mine");
});

test("Contents.create() and copy() find free names", async () => {
  const folder = newFolder();
  const contents = new Contents(folder);
  const names = [
    await contents.create("", "notebook"),
    await contents.create("", "notebook"),
    await contents.create("", "file", ".txt"),
    await contents.create("", "directory"),
    await contents.create("", "directory"),
    await contents.copy("Untitled.ipynb", ""),
    await contents.copy("Untitled.ipynb", ""),
    await contents.copy("Untitled-Copy1.ipynb", ""),
    await contents.copy("Untitled.ipynb", "Untitled Folder"),
  ].map((m) => m.path);
  assert.deepEqual(names, [
    "Untitled.ipynb",
    "Untitled1.ipynb",
    "untitled.txt",
    "Untitled Folder",
    "Untitled Folder 1",
    "Untitled-Copy1.ipynb",
    "Untitled-Copy2.ipynb",
    "Untitled-Copy3.ipynb",
    "Untitled Folder/Untitled.ipynb",
  ]);
});

test("Contents.rename() never writes over a file, and takes the checkpoint along", async () => {
  const folder = newFolder();
  const contents = new Contents(folder);
  writeFileSync(join(folder, "a.txt"), "a");
  writeFileSync(join(folder, "b.txt"), "b");
  await assert.rejects(async () => await contents.rename("a.txt", "b.txt"), withStatus(409));
  await assert.rejects(async () => await contents.rename("none.txt", "c.txt"), withStatus(404));
  await contents.checkpoints.create("a.txt");
  assert.equal((await contents.rename("a.txt", "c.txt")).path, "c.txt");
  assert.equal((await contents.checkpoints.list("c.txt")).length, 1);
});

test("Contents.checkpoints go back to what was", async () => {
  const folder = newFolder();
  const contents = new Contents(folder);
  writeFileSync(join(folder, "a.txt"), "one");
  assert.deepEqual(await contents.checkpoints.list("a.txt"), []);
  const { id } = await contents.checkpoints.create("a.txt");
  writeFileSync(join(folder, "a.txt"), "two");
  await contents.checkpoints.restore("a.txt", id);
  assert.equal(readFileSync(join(folder, "a.txt"), "utf8"), "one");
  await assert.rejects(
    async () => await contents.checkpoints.restore("a.txt", "other"),
    withStatus(404),
  );
  await contents.checkpoints.delete("a.txt", id);
  assert.deepEqual(await contents.checkpoints.list("a.txt"), []);
});

test("Contents.delete() takes files and empty folders, not full ones", async () => {
  const folder = newFolder();
  const contents = new Contents(folder);
  mkdirSync(join(folder, "d"));
  writeFileSync(join(folder, "d", "a.txt"), "a");
  await contents.checkpoints.create("d/a.txt");
  await assert.rejects(async () => await contents.delete("d"), withStatus(400));
  await contents.delete("d/a.txt");
  await contents.delete("d");
  assert.ok(!existsSync(join(folder, "d")));
  await assert.rejects(async () => await contents.delete("d"), withStatus(404));
});

test("Contents.save() keeps a file's mode and leaves nothing beside it", async () => {
  const folder = newFolder();
  writeFileSync(join(folder, "a.sh"), "a", { mode: 0o755 });
  await new Contents(folder).save("a.sh", { type: "file", format: "text", content: "b" });
  assert.equal(statSync(join(folder, "a.sh")).mode & 0o777, 0o755);
  assert.deepEqual(readdirSync(folder), ["a.sh"]);
});

test("Contents.get() converts a notebook of format 3, and says of older ones what to do", async () => {
  const folder = newFolder();
  const old = {
    nbformat: 3,
    nbformat_minor: 0,
    metadata: { name: "old" },
    worksheets: [
      {
        cells: [
          { cell_type: "heading", level: 2, metadata: {}, source: ["About\n", "it"] },
          {
            cell_type: "code",
            input: ["1 +\n", "1"],
            language: "python",
            metadata: {},
            prompt_number: 3,
            outputs: [
              { output_type: "pyout", prompt_number: 3, text: ["2"], json: '{"a": 1}' },
              { output_type: "stream", stream: "stderr", text: "oh" },
              { output_type: "pyerr", ename: "E", evalue: "v", traceback: ["t"] },
            ],
          },
        ],
      },
    ],
  };
  writeFileSync(join(folder, "old.ipynb"), JSON.stringify(old));
  const contents = new Contents(folder);
  const model = await contents.get("old.ipynb");
  assert.deepEqual(model.content, {
    cells: [
      { cell_type: "markdown", metadata: {}, source: "## About it" },
      {
        cell_type: "code",
        execution_count: 3,
        metadata: { trusted: false },
        outputs: [
          {
            output_type: "execute_result",
            execution_count: 3,
            metadata: {},
            data: { "text/plain": "2", "application/json": { a: 1 } },
          },
          { output_type: "stream", name: "stderr", text: "oh" },
          { output_type: "error", ename: "E", evalue: "v", traceback: ["t"] },
        ],
        source: "1 +\n1",
      },
    ],
    metadata: { title: "old" },
    nbformat: 4,
    nbformat_minor: 4,
  });
  await contents.save("old.ipynb", { type: "notebook", content: model.content });
  assert.match(readFileSync(join(folder, "old.ipynb"), "utf8"), /"nbformat": 4/);
  writeFileSync(join(folder, "older.ipynb"), JSON.stringify({ ...old, nbformat: 2 }));
  await assert.rejects(
    async () => await contents.get("older.ipynb"),
    /nbformat must be 4 or 3 \(older: jupyter nbconvert --to notebook --inplace FILE\), got 2/,
  );
});

test("Contents.save() makes changes one after the other, whoever asks first", async () => {
  const folder = newFolder();
  writeFileSync(join(folder, "a.txt"), "0");
  const contents = new Contents(folder);
  const { hash } = await contents.get("a.txt", { hash: true });
  const model = { type: "file", format: "text", hash: hash! };
  const saves = ["1", "2", "3"].map(
    async (content) => await contents.save("a.txt", { ...model, content }),
  );
  const ends = await Promise.allSettled(saves);
  assert.deepEqual(
    ends.map(({ status }) => status),
    ["fulfilled", "rejected", "rejected"],
  );
  assert.equal(readFileSync(join(folder, "a.txt"), "utf8"), "1");
  const made = await Promise.all([1, 2, 3].map(async () => await contents.create("")));
  assert.deepEqual(made.map(({ path }) => path).sort(), ["untitled", "untitled1", "untitled2"]);
});
