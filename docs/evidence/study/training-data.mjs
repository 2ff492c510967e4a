// Part B's runs as a file of lines, one per training step, and back.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { families, folderOf, places, switches } from "./training-settings.mjs";

const columns = {
  tokens: "cost/tokens",
  calls: "cost/calls",
  trajectories: "cost/trajectories",
  score: "critic/score/mean",
  mixed: "tree/mixed_outcome_ratio",
  changed: "branch/decided_by_entropy",
  cpu: "perf/cpu_seconds",
};
const heads = ["family", "arm", "seed", "step", ...Object.keys(columns), "held_out"];
export const arms = Object.keys({ ...places, ...switches });

const heldOut = (line) =>
  Object.entries(line).find(([name]) => /^val-core\/.*\/mean@\d+$/.test(name))?.[1];
const short = (value) => (value === undefined ? "" : String(Number(value.toPrecision(7))));

/** Lines of a file by their steps, those of one step together. */
function stepsOf(folder) {
  const steps = new Map();
  for (const name of ["metrics.jsonl", "timing.jsonl"]) {
    const lines = readFileSync(join(folder, name), "utf8").trim().split("\n");
    for (const line of lines.map((text) => JSON.parse(text)))
      steps.set(line.step, { ...steps.get(line.step), ...line });
  }
  return [...steps.values()].sort((a, b) => a.step - b.step);
}

/** The rows of a file of runs, and all runs of a sweep's folders that are done: these in place of the file's. */
export function gather(from, file) {
  const rows = [];
  for (const family of families) {
    const kept = join(from, family, "sweep.json");
    if (!existsSync(kept)) continue;
    const states = JSON.parse(readFileSync(kept, "utf8"));
    for (const arm of arms) {
      const folder = join(from, family, folderOf(arm));
      for (const name of existsSync(folder) ? readdirSync(folder).sort() : []) {
        if (states[`${folderOf(arm)}/${name}`]?.state !== "done") continue;
        for (const line of stepsOf(join(folder, name))) {
          const values = Object.values(columns).map((key) => short(line[key]));
          const seed = name.replace("seed-", "");
          rows.push([family, folderOf(arm), seed, line.step, ...values, short(heldOut(line))]);
        }
      }
    }
  }
  const runOf = ([family, arm, seed]) => `${family} ${arm} ${seed}`;
  const made = new Set(rows.map(runOf));
  const written = existsSync(file) ? unpacked(file).trim().split("\n").slice(1) : [];
  for (const row of written.map((line) => line.split(",")))
    if (!made.has(runOf(row))) rows.push(row);
  const names = arms.map(folderOf);
  const order = ([family, arm, seed, step]) => [
    ...[families.indexOf(family), names.indexOf(arm), Number(seed), Number(step)],
  ];
  rows.sort((one, other) => {
    const [a, b] = [order(one), order(other)];
    const at = a.findIndex((value, i) => value !== b[i]);
    return at < 0 ? 0 : a[at] - b[at];
  });
  return [heads, ...rows].map((row) => `${row.join(",")}\n`).join("");
}

const unpacked = (path) => gunzipSync(readFileSync(path)).toString("utf8");

/** The lines of `training-trees.csv.gz`. */
export const readTrees = (folder) => unpacked(join(folder, "training-trees.csv.gz"));

/** The runs of `training.csv.gz`: `[family][arm]` is a map from seeds to lines, as `compareAt` reads them. */
export function readTraining(folder) {
  const text = unpacked(join(folder, "training.csv.gz"));
  const runs = Object.fromEntries(
    families.map((family) => [family, Object.fromEntries(arms.map((arm) => [arm, new Map()]))]),
  );
  const named = new Map(arms.map((arm) => [folderOf(arm), arm]));
  for (const row of text.trim().split("\n").slice(1)) {
    const cells = row.split(",");
    const line = Object.fromEntries(
      heads.map((head, i) => [columns[head] ?? head, cells[i] === "" ? undefined : cells[i]]),
    );
    const seeds = runs[line.family][named.get(line.arm)];
    const numbers = Object.entries(line).flatMap(([key, value]) =>
      key === "family" || key === "arm" || value === undefined ? [] : [[key, Number(value)]],
    );
    const seed = Number(line.seed);
    seeds.set(seed, [...(seeds.get(seed) ?? []), Object.fromEntries(numbers)]);
  }
  return runs;
}
