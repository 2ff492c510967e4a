import assert from "node:assert/strict";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { HttpError, toHttpError } from "../http/http-error.js";
import { Contents } from "./contents.js";

const newFolder = (): string => mkdtempSync(join(tmpdir(), "contents-"));
const withStatus = (status: number) => (error: unknown) =>
  error instanceof HttpError && error.status === status;
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

test("Contents.get() lists a folder without hidden files", () => {
  const folder = newFolder();
  writeFileSync(join(folder, "b.txt"), "b");
  writeFileSync(join(folder, ".c"), "c");
  mkdirSync(join(folder, "a"));
  const { content, type } = new Contents(folder).get("");
  assert.equal(type, "directory");
  assert.deepEqual(
    (content as { name: string }[]).map((m) => m.name),
    ["a", "b.txt"],
  );
});

test("Contents.get() tells text, bytes and notebooks apart", () => {
  const folder = newFolder();
  writeFileSync(join(folder, "t.md"), "é\n");
  writeFileSync(join(folder, "b.bin"), Buffer.from([0xff, 0, 1]));
  writeFileSync(join(folder, "n.ipynb"), JSON.stringify(notebook(cell("1"))));
  writeFileSync(join(folder, "bad.ipynb"), "{");
  const contents = new Contents(folder);
  const text = contents.get("t.md", { hash: true });
  assert.deepEqual([text.format, text.content, text.mimetype], ["text", "é\n", "text/markdown"]);
  assert.match(String(text.hash), /^[0-9a-f]{64}$/);
  assert.deepEqual(
    [contents.get("b.bin").format, contents.get("b.bin").content],
    ["base64", "/wAB"],
  );
  assert.throws(() => contents.get("b.bin", { format: "text" }), withStatus(400));
  assert.equal(contents.get("n.ipynb").type, "notebook");
  assert.equal(contents.get("n.ipynb", { type: "file" }).format, "text");
  assert.throws(() => contents.get("bad.ipynb"), withStatus(400));
  assert.equal(contents.get("bad.ipynb", { content: false }).content, null);
});

test("Contents.save() writes notebooks as Jupyter does, and reads back what was saved", () => {
  const folder = newFolder();
  const contents = new Contents(folder);
  const output = { output_type: "stream", name: "stdout", text: "one\ntwo" };
  const content = notebook(cell("a\nb", [output], { trusted: true }));
  const { created } = contents.save("n.ipynb", { type: "notebook", format: "json", content });
  assert.ok(created);
  const file = readFileSync(join(folder, "n.ipynb"), "utf8");
  assert.ok(file.startsWith('{\n "cells": [\n  {\n   "cell_type": "code"') && file.endsWith("}\n"));
  const saved = JSON.parse(file) as {
    cells: { source: unknown; metadata: object; outputs: { text: unknown }[] }[];
  };
  assert.deepEqual(saved.cells[0]!.source, ["a\n", "b"]);
  assert.deepEqual(saved.cells[0]!.outputs[0]!.text, ["one\n", "two"]);
  assert.deepEqual(saved.cells[0]!.metadata, {});
  assert.deepEqual(contents.get("n.ipynb").content, content);
});

test("Contents.get() trusts outputs that were made here and no others", () => {
  const folder = newFolder();
  const trustFile = join(newFolder(), "trusted");
  const output = { output_type: "stream", name: "stdout", text: "x" };
  const trusted = (contents: Contents): unknown => {
    const { cells } = contents.get("n.ipynb").content as {
      cells: { metadata: { trusted?: boolean } }[];
    };
    return cells[0]!.metadata.trusted;
  };
  const contents = new Contents(folder, { trustFile });
  writeFileSync(join(folder, "n.ipynb"), JSON.stringify(notebook(cell("1", [output]))));
  assert.equal(trusted(contents), false);
  contents.save("n.ipynb", { content: notebook(cell("1", [output], { trusted: false })) });
  assert.equal(trusted(contents), false);
  contents.save("n.ipynb", { content: notebook(cell("1", [output], { trusted: true })) });
  assert.equal(trusted(new Contents(folder, { trustFile })), true);
  writeFileSync(join(folder, "n.ipynb"), JSON.stringify(notebook(cell("2", [output]))));
  assert.equal(trusted(new Contents(folder, { trustFile })), false);
});

test("Contents.save() takes base64 and chunks", () => {
  const folder = newFolder();
  const contents = new Contents(folder);
  contents.save("b.bin", { type: "file", format: "base64", content: "/wAB" });
  assert.deepEqual([...readFileSync(join(folder, "b.bin"))], [255, 0, 1]);
  const part = (chunk: number, text: string): unknown =>
    contents.save("up.txt", {
      type: "file",
      format: "base64",
      content: Buffer.from(text).toString("base64"),
      chunk,
    });
  part(1, "one ");
  part(2, "two ");
  part(-1, "three");
  assert.equal(readFileSync(join(folder, "up.txt"), "utf8"), "one two three");
  assert.throws(
    () => contents.save("x", { type: "file", format: "base64", content: "?!" }),
    withStatus(400),
  );
});

test("Contents.save() leaves the old file when the disk is full or read-only", () => {
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
    assert.throws(
      () => full.save("a.txt", { type: "file", format: "text", content: "new" }),
      (thrown) => toHttpError(thrown).status === status,
    );
  }
  assert.equal(readFileSync(join(folder, "a.txt"), "utf8"), "old");
});

test("Contents.save() refuses a read-only file", { skip: process.getuid?.() === 0 }, () => {
  const folder = newFolder();
  writeFileSync(join(folder, "a.txt"), "old");
  chmodSync(join(folder, "a.txt"), 0o444);
  const contents = new Contents(folder);
  assert.equal(contents.get("a.txt").writable, false);
  assert.throws(
    () => contents.save("a.txt", { type: "file", format: "text", content: "x" }),
    withStatus(403),
  );
});

test("Contents.save() answers 409 when the file changed underneath", () => {
  const folder = newFolder();
  const file = join(folder, "a.txt");
  writeFileSync(file, "read");
  const contents = new Contents(folder);
  const { last_modified, hash } = contents.get("a.txt", { hash: true });
  const save = (extra: object): unknown =>
    contents.save("a.txt", { type: "file", format: "text", content: "mine", ...extra });
  writeFileSync(file, "theirs");
  const later = new Date(Date.parse(last_modified) + 5000);
  utimesSync(file, later, later);
  assert.throws(() => save({ last_modified }), withStatus(409));
  assert.throws(() => save({ hash: hash ?? undefined }), withStatus(409));
  assert.equal(readFileSync(file, "utf8"), "theirs");
  save({ last_modified: contents.get("a.txt").last_modified });
  assert.equal(readFileSync(file, "utf8"), "mine");
});

test("Contents.create() and copy() find free names", () => {
  const folder = newFolder();
  const contents = new Contents(folder);
  const names = [
    contents.create("", "notebook"),
    contents.create("", "notebook"),
    contents.create("", "file", ".txt"),
    contents.create("", "directory"),
    contents.create("", "directory"),
    contents.copy("Untitled.ipynb", ""),
    contents.copy("Untitled.ipynb", ""),
    contents.copy("Untitled-Copy1.ipynb", ""),
    contents.copy("Untitled.ipynb", "Untitled Folder"),
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

test("Contents.rename() never writes over a file, and takes the checkpoint along", () => {
  const folder = newFolder();
  const contents = new Contents(folder);
  writeFileSync(join(folder, "a.txt"), "a");
  writeFileSync(join(folder, "b.txt"), "b");
  assert.throws(() => contents.rename("a.txt", "b.txt"), withStatus(409));
  assert.throws(() => contents.rename("none.txt", "c.txt"), withStatus(404));
  contents.checkpoints.create("a.txt");
  assert.equal(contents.rename("a.txt", "c.txt").path, "c.txt");
  assert.equal(contents.checkpoints.list("c.txt").length, 1);
});

test("Contents.checkpoints go back to what was", () => {
  const folder = newFolder();
  const contents = new Contents(folder);
  writeFileSync(join(folder, "a.txt"), "one");
  assert.deepEqual(contents.checkpoints.list("a.txt"), []);
  const { id } = contents.checkpoints.create("a.txt");
  writeFileSync(join(folder, "a.txt"), "two");
  contents.checkpoints.restore("a.txt", id);
  assert.equal(readFileSync(join(folder, "a.txt"), "utf8"), "one");
  assert.throws(() => contents.checkpoints.restore("a.txt", "other"), withStatus(404));
  contents.checkpoints.delete("a.txt", id);
  assert.deepEqual(contents.checkpoints.list("a.txt"), []);
});

test("Contents.delete() takes files and empty folders, not full ones", () => {
  const folder = newFolder();
  const contents = new Contents(folder);
  mkdirSync(join(folder, "d"));
  writeFileSync(join(folder, "d", "a.txt"), "a");
  contents.checkpoints.create("d/a.txt");
  assert.throws(() => contents.delete("d"), withStatus(400));
  contents.delete("d/a.txt");
  contents.delete("d");
  assert.ok(!existsSync(join(folder, "d")));
  assert.throws(() => contents.delete("d"), withStatus(404));
});

test("Contents.save() keeps a file's mode and leaves nothing beside it", () => {
  const folder = newFolder();
  writeFileSync(join(folder, "a.sh"), "a", { mode: 0o755 });
  new Contents(folder).save("a.sh", { type: "file", format: "text", content: "b" });
  assert.equal(statSync(join(folder, "a.sh")).mode & 0o777, 0o755);
  assert.deepEqual(readdirSync(folder), ["a.sh"]);
});
