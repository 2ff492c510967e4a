import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { packagePath } from "../../../common/platform/node/modules.js";
import { temporaryFolder } from "../../../tests/temporary.js";
import { copyLessons } from "./lesson-copies.js";
import { ownClone } from "./run-lab.js";

test("ownClone() is of this repository alone", (t) => {
  assert.equal(ownClone(tmpdir()), undefined);
  const here = ownClone(packagePath("."));
  if (here === undefined) return t.skip("this is no clone");
  assert.equal(here.first, "lessons/00-tour.ipynb");
  for (const name of ["src", "notebooks", "dist"]) assert.ok(here.unlisted.includes(name), name);
  assert.ok(!here.unlisted.includes("lessons"));
  assert.ok(here.lessons.includes("00-tour.ipynb") && here.lessons.includes("README.md"));
  assert.ok(!here.lessons.includes("exercises"));
});

test("copyLessons() keeps what a person changed, and replaces what nobody did", () => {
  const clone = temporaryFolder("clone");
  mkdirSync(join(clone, "notebooks"));
  const ship = (name: string, text: string) => writeFileSync(join(clone, "notebooks", name), text);
  const copy = (name: string) => join(clone, "lessons", name);
  const copied = () =>
    ["a.ipynb", "b.ipynb", "c.ipynb"].map((name) => readFileSync(copy(name), "utf8"));
  for (const name of ["a.ipynb", "b.ipynb", "c.ipynb"]) ship(name, "first");
  const names = ["a.ipynb", "b.ipynb", "c.ipynb"];
  copyLessons(clone, names);
  assert.deepEqual(copied(), ["first", "first", "first"]);
  writeFileSync(copy("b.ipynb"), "mine");
  copyLessons(clone, names);
  assert.deepEqual(copied(), ["first", "mine", "first"]);
  for (const name of ["a.ipynb", "b.ipynb"]) ship(name, "second");
  copyLessons(clone, names);
  copyLessons(clone, names);
  assert.deepEqual(copied(), ["second", "mine", "first"]);
});
