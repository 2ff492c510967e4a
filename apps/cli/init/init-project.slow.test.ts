// A project that `arpo-lab init` makes, as it is: its types hold, its test passes, its notebook runs, and it trains.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { temporaryFolder } from "../../../tests/temporary.js";

const root = fileURLToPath(new URL("../../../../", import.meta.url));
const bin = join(root, "apps/cli/bin/arpo-lab.mjs");
const folder = join(temporaryFolder("arpo-init"), "my-task");

function node(cwd: string, ...args: string[]): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd, encoding: "utf8" });
  assert.equal(status, 0, `${args.join(" ")}\n${stdout}${stderr}`);
  return stdout + stderr;
}

/** The words behind `arpo-lab` of a script of the project. */
function scriptOf(name: string): string[] {
  const { scripts } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
    scripts: Record<string, string>;
  };
  return scripts[name]!.replace(/^tsc && /, "")
    .split(" ")
    .slice(1);
}

test("arpo-lab init makes a project and says what comes next", () => {
  const said = node(join(folder, ".."), bin, "init", "my-task");
  assert.match(said, /made .*my-task: [^]*cd my-task[^]*npm test/);
  // What `npm install` would put there.
  const modules = join(folder, "node_modules");
  mkdirSync(modules);
  symlinkSync(root, join(modules, "arpo-lab"));
  symlinkSync(join(root, "node_modules/@types"), join(modules, "@types"));
});

test("its types hold, and its test passes", () => {
  const typescript = createRequire(import.meta.url).resolve("typescript/package.json");
  node(folder, join(typescript, "../bin/tsc"));
  assert.match(node(folder, bin, ...scriptOf("test")), /pass 3[^]*fail 0/);
});

test("its notebook runs, and it trains", () => {
  node(folder, bin, "run", "study.ipynb", "--out", "runs/study.ipynb");
  const said = node(folder, bin, ...scriptOf("train"));
  assert.match(said, /val-core\/held-out\/reward\/mean@1[^]*done: 4 steps/);
  assert.match(readFileSync(join(folder, "runs/one/rollouts/1.jsonl"), "utf8"), /<python>/);
});
