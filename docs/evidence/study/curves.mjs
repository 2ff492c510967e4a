// node docs/evidence/study/curves.mjs RUNS: takes finished runs, folders named PRESET-FAMILY-SEED in RUNS, and writes
// what is worth keeping of them to docs/evidence/curves: each run's main metrics as JSON lines, a picture of every
// family with the mean of its seeds and their 95% interval, and the table of docs/evidence/curves/README.md.
import { mkdir, readFile, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

const { compareRuns } = await import("../../../dist/src/view/figures/curves.js");
const { saveFigure } = await import("../../../dist/src/view/export/save-figure.js");

const [from] = process.argv.slice(2);
if (!from) throw new SyntaxError("Cannot take curves: the folder of the runs must be named");
const into = new URL("../curves/", import.meta.url).pathname;
const presets = ["grpo", "arpo", "aepo"];
const families = ["calc", "lookup", "mixed"];
const kept = [
  "critic/score/mean",
  "actor/entropy_loss",
  "actor/pg_clipfrac",
  "actor/grad_norm",
  "response_length/mean",
  "tools/calls_per_sample",
  "tools/total_calls",
];

const heldOut = (line) =>
  Object.entries(line).find(([name]) => /^val-core\/.*\/reward\/mean@\d+$/.test(name))?.[1];

async function take(name) {
  const text = await readFile(join(from, name, "metrics.jsonl"), "utf8");
  const bySteps = new Map();
  for (const line of text
    .trim()
    .split("\n")
    .map((each) => JSON.parse(each))) {
    const one = bySteps.get(line.step) ?? { step: line.step };
    const score = heldOut(line);
    if (score !== undefined) one["held-out reward"] = score;
    for (const metric of kept) if (metric in line) one[metric] = line[metric];
    bySteps.set(line.step, one);
  }
  const lines = [...bySteps.values()];
  await writeFile(join(into, `${name}.jsonl`), lines.map((l) => `${JSON.stringify(l)}\n`).join(""));
  return lines;
}

await mkdir(into, { recursive: true });
const there = await readdir(from);
const rows = [];
for (const family of families) {
  const runs = {};
  for (const preset of presets) {
    const names = there.filter((n) => new RegExp(`^${preset}-${family}-\\d+$`).test(n)).sort();
    if (names.length === 0) continue;
    runs[preset] = await Promise.all(names.map(take));
    const curves = runs[preset].map((run) => run.filter((line) => "held-out reward" in line));
    const list = (pick) => curves.map((curve) => pick(curve).toFixed(2)).join(", ");
    const at = (index) => (curve) => curve.at(index)["held-out reward"];
    const best = (curve) => Math.max(...curve.map((line) => line["held-out reward"]));
    const calls = (run) => run.reduce((sum, line) => sum + (line["tools/total_calls"] ?? 0), 0);
    const spent = Math.round(runs[preset].reduce((sum, run) => sum + calls(run), 0) / names.length);
    const steps = curves.map((curve) => curve.at(-1).step);
    rows.push(
      `| ${family} | ${preset} | ${[...new Set(steps)].join(", ")} | ${list(at(0))} | ${list(at(-1))} | ${list(best)} | ${spent} |`,
    );
  }
  if (Object.keys(runs).length === 0) continue;
  const metric = "held-out reward";
  const figure = compareRuns(runs, {
    metric,
    title: `${family}: held-out reward at temperature 1`,
  });
  await saveFigure(join(into, `${family}.svg`), figure);
}
const readme = join(into, "README.md");
const page = await readFile(readme, "utf8");
const head = "| family | preset | steps | before | after | best | tool calls |";
const table = [head, "| --- | --- | --- | --- | --- | --- | --- |", ...rows].join("\n");
await writeFile(readme, page.replace(/\| family \|[^]*?(?=\n\n)/, table));
console.log(table);
