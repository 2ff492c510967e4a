import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { temporaryFolder } from "../../../tests/temporary.js";
import { initProject } from "./init-project.js";

test("a project gets its files, the folder's name, and this package by its place", () => {
  const path = initProject(join(temporaryFolder("arpo-init"), "My Task!"));
  const read = (name: string) => JSON.parse(readFileSync(join(path, name), "utf8")) as never;
  const { name, dependencies, scripts } = read("package.json") as {
    name: string;
    dependencies: Record<string, string>;
    scripts: Record<string, string>;
  };
  assert.equal(name, "my-task");
  assert.match(dependencies["arpo-lab"]!, /^(file:|\^?\d)/);
  assert.deepEqual(Object.keys(scripts), ["test", "train"]);
  for (const file of ["tool.ts", "reward.ts", "run.yaml", "test.ts", "data/train.jsonl"])
    assert.ok(readFileSync(join(path, file), "utf8").length > 0, file);
  const { cells } = read("study.ipynb") as { cells: { outputs?: unknown[] }[] };
  assert.ok(cells.length > 3 && cells.every(({ outputs = [] }) => outputs.length === 0));
});

test("a folder with something in it, and what is no folder, are refused and left as they are", () => {
  const folder = temporaryFolder("arpo-init");
  const full = join(folder, "full");
  mkdirSync(full);
  for (const name of ["a", "b", "c", "d"]) writeFileSync(join(full, name), "");
  assert.throws(
    () => initProject(full),
    /Cannot make a project: .*full must be empty, got a, b, c, …; name another folder/,
  );
  writeFileSync(join(folder, "file"), "mine");
  assert.throws(() => initProject(join(folder, "file")), /must be a folder .*got E(NOTDIR|EXIST)/);
  assert.equal(readFileSync(join(folder, "file"), "utf8"), "mine");
  if (process.platform !== "linux") return;
  // Node's own way to make the folders above would go round for ever.
  assert.throws(() => initProject("/proc/here"), /\/proc\/here must be a folder .*got ENOENT/);
});
