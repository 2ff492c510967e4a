// The outputs that the lessons carry, so that a site that runs nothing shows them. `npm run lessons` runs
// every lesson and keeps what can be shown as it stands; `-- --check` runs them and compares. On the
// wasm engine, whose digits are the same on every machine. Trees that they show are kept in apps/site/landing for the
// site's pages to read, which have the explorer in the places of pictures. Words choose lessons: `npm run lessons -- 03`.
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { carried, steady, steadyTrees, treesIn } from "./lessons/said.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const check = process.argv.includes("--check");
const words = process.argv.slice(2).filter((word) => !word.startsWith("-"));

const names = readdirSync(join(root, "notebooks"))
  .filter((name) => name.endsWith(".ipynb"))
  .filter((name) => words.length === 0 || words.some((word) => name.includes(word)));
const folder = mkdtempSync(join(tmpdir(), "arpo-lab-lessons-"));
let stale = 0;

/** Runs a lesson on the engine whose digits are the same everywhere; what it said, where it fails. */
function run(path, out) {
  return new Promise((resolve) => {
    const args = [
      join(root, "apps/cli/bin/arpo-lab.mjs"),
      "run",
      path,
      "--out",
      out,
      "--timeout",
      "600",
    ];
    const env = { ...process.env, ARPO_LAB_BACKEND: "wasm" };
    const child = spawn(process.execPath, args, { cwd: root, env });
    let said = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (said += text));
    child.on("close", (code) => resolve(code === 0 ? undefined : said));
  });
}

async function lesson(name) {
  const path = join(root, "notebooks", name);
  const out = join(folder, name);
  const failure = await run(path, out);
  if (failure !== undefined) {
    console.error(`${name} fails:\n${failure}`);
    stale++;
    return;
  }
  const kept = JSON.parse(readFileSync(path, "utf8"));
  const made = JSON.parse(readFileSync(out, "utf8"));
  const faults = [];
  made.cells.forEach((cell, i) => {
    if (cell.cell_type !== "code") return;
    const outputs = carried(cell.outputs);
    const before = JSON.stringify(kept.cells[i].outputs ?? []);
    const after = JSON.stringify(outputs);
    if (steady(before) !== steady(after)) faults.push(cell.id);
    kept.cells[i].outputs = outputs;
    kept.cells[i].execution_count = cell.execution_count;
  });
  const trees = made.cells.flatMap((cell) => treesIn(cell.outputs ?? []));
  if (trees.length > 0) {
    const file = join(root, "tools/site/lesson-trees", name.replace(/ipynb$/, "json"));
    const before = existsSync(file) ? readFileSync(file, "utf8") : "";
    const after = `${JSON.stringify(trees)}\n`;
    if (steadyTrees(before) !== steadyTrees(after)) {
      if (check) faults.push("its trees in tools/site/lesson-trees");
      else writeFileSync(file, after);
    }
  }
  const bytes = JSON.stringify(kept).length;
  if (faults.length === 0) console.log(`${name}: fresh, ${(bytes / 1000).toFixed(0)} kB`);
  else if (!check) {
    writeFileSync(path, `${JSON.stringify(kept, null, 1)}\n`);
    console.log(`${name}: written, ${(bytes / 1000).toFixed(0)} kB`);
  } else {
    stale++;
    console.error(`${name}: outputs of ${faults.join(", ")} are of another run: npm run lessons`);
  }
}

// Two at a time: much of a lesson is one thread's work.
const waiting = [...names];
const lane = async () => {
  for (let name; (name = waiting.shift()) !== undefined;) await lesson(name);
};
await Promise.all([lane(), lane()]);
rmSync(folder, { recursive: true });
process.exit(stale > 0 ? 1 : 0);
