// docs/capture.md: its files are written into a folder and run as they stand.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { temporaryFolder } from "../temporary.js";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const page = readFileSync(join(root, "docs/capture.md"), "utf8");
const folder = temporaryFolder("capture-page");
for (const name of ["node_modules", "data"]) symlinkSync(join(root, name), join(folder, name));
const files = [...page.matchAll(/^```[jt]s (\S+)\n([^]*?)^```$/gm)];
for (const [, name, text] of files) writeFileSync(join(folder, name!), text!);

async function run(...args: string[]): Promise<string> {
  const child = spawn(process.execPath, [join(root, "apps/cli/bin/arpo-lab.mjs"), ...args], {
    cwd: folder,
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (said += text));
  const [status] = (await once(child, "exit")) as [number];
  assert.equal(status, 0, said);
  return said;
}

test("docs/capture.md: the program is captured as the page says", async () => {
  const args = ["--runs", "8", "--out", "trees.jsonl", "--quiet"];
  const said = await run(
    "capture",
    "data/models/tiny",
    ...args,
    "--",
    process.execPath,
    "agent.mjs",
  );
  assert.match(said, /trees\.jsonl: 1 tree, 8 trajectories, \d+ sampled tokens, mean reward/);
});

test("docs/capture.md: the loop in TypeScript captures and trains", async () => {
  assert.match(await run("run", "train.ts"), /4 true/);
});

test("docs/capture.md: the program is branched", async () => {
  assert.match(await run("run", "branch.ts"), /RolloutTree: 4 trajectories \(\d branches\)/);
});
