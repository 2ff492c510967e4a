// The outputs that the lessons carry, so that a site that runs nothing shows them. `npm run lessons` runs
// every lesson and keeps what can be shown as it stands; `-- --check` runs them and compares. On the
// wasm engine, whose digits are the same on every machine. Words choose lessons: `npm run lessons -- 03`.
import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const check = process.argv.includes("--check");
const words = process.argv.slice(2).filter((word) => !word.startsWith("-"));

/** What a page without scripts can show of an output: a picture before a page, a page before text. */
function still({ data, ...output }) {
  const { "image/svg+xml": svg, "image/png": png, "text/html": html, ...rest } = data;
  const plain = { "text/plain": rest["text/plain"] ?? [""] };
  const text = Array.isArray(html) ? html.join("") : (html ?? "");
  const moves = /<script|<iframe|<button|<input/.test(text) || text.length > 30_000;
  if (svg !== undefined) return { ...output, data: { "image/svg+xml": svg, ...plain } };
  if (png !== undefined) return { ...output, data: { "image/png": png, ...plain } };
  if (html !== undefined && !moves) return { ...output, data: { "text/html": html, ...plain } };
  if (rest["text/markdown"] !== undefined)
    return { ...output, data: { "text/markdown": rest["text/markdown"], ...plain } };
  return { ...output, data: plain };
}

/** Times and machines differ from run to run; nothing else may. */
const steady = (text) =>
  text
    .replace(/\b\d+(\.\d+)?(?= ?(ms|s|min|minutes|seconds|tok\/s|tokens\/s|MB|GB)\b)/g, "#")
    .replace(/\b\d+:\d\d\b/g, "#")
    .replace(/\b\d+(\.\d+)?\/s\b/g, "#")
    .replace(/(_time(?:<\/td><td[^>]*>|\s+|': )|timing_s\/\w+': | ms: )[\d.e-]+\s*/g, "$1#")
    // A column is as wide as its longest number.
    .replace(/ {2,}/g, "  ")
    // A board's last panel, to the end of its picture.
    .replace(/Seconds per step<(?:[^"\\]|\\.)*/g, "#")
    .replace(/id="[\w-]+"|arpo-[0-9a-f]{6,}/g, "id");

const names = readdirSync(join(root, "notebooks"))
  .filter((name) => name.endsWith(".ipynb"))
  .filter((name) => words.length === 0 || words.some((word) => name.includes(word)));
const folder = mkdtempSync(join(tmpdir(), "arpo-lab-lessons-"));
let stale = 0;

/** Runs a lesson on the engine whose digits are the same everywhere; what it said, where it fails. */
function run(path, out) {
  return new Promise((resolve) => {
    const args = [join(root, "bin/arpo-lab.mjs"), "run", path, "--out", out, "--timeout", "600"];
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
    // Which engine this machine has is no part of a lesson.
    const told = cell.outputs.filter((o) => !/^arpo-lab: tensors on/.test((o.text ?? []).join("")));
    const outputs = told.map((output) => (output.data ? still(output) : output));
    const before = JSON.stringify(kept.cells[i].outputs ?? []);
    const after = JSON.stringify(outputs);
    if (steady(before) !== steady(after)) faults.push(cell.id);
    kept.cells[i].outputs = outputs;
    kept.cells[i].execution_count = cell.execution_count;
  });
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
