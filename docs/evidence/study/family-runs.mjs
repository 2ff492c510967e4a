// node docs/evidence/study/family-runs.mjs OUT [WORD…] [--write]: trains the tiny model for 40 steps on `lookup` and
// `mixed` under every pair of docs/evidence/study/family/pairs.mjs whose name has one of the words, one after another.
// A run that is finished in OUT is not made again. A run that fails, or whose metrics hold a NaN, is named
// and the exit is 1. --write makes no run: it takes what is finished to docs/evidence/family-curves.
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { pairs } from "./family/pairs.mjs";
import { writeCurves } from "./family/write-curves.mjs";

// Before an engine is loaded: one thread, so that figures do not depend on the machine.
process.env.ARPO_LAB_THREADS ??= "1";
const { endTools, trainPair } = await import("./family/train-pair.mjs");
const write = process.argv.includes("--write");
const [named, ...words] = process.argv.slice(2).filter((word) => !word.startsWith("-"));
if (!named) throw new SyntaxError("Cannot run the family: the folder of the runs must be named");
const out = resolve(named);
process.chdir(fileURLToPath(new URL("../../..", import.meta.url)));
const steps = 40;
const common = [
  "actor_rollout_ref.model.path=data/models/tiny",
  `trainer.total_training_steps=${steps}`,
  "actor_rollout_ref.actor.ppo_mini_batch_size=1",
  "trainer.test_freq=20",
  "trainer.logger=[console]",
  "trainer.save_freq=-1",
  "lab.keep_best=false",
];

/** A run's metrics, and nothing where it did not come to its last step. */
function metricsOf(folder) {
  const path = join(folder, "metrics.jsonl");
  if (!existsSync(path)) return;
  const lines = readFileSync(path, "utf8").trim().split("\n").filter(Boolean);
  const metrics = lines.map((line) => JSON.parse(line));
  if (metrics.some((line) => line.step === steps && isChecked(line))) return metrics;
}
/** Prompts of a step: a trajectory of `mixed` writes and calls twice as much. */
const prompts = { lookup: 2, mixed: 1 };
const isChecked = (line) => Object.keys(line).some((key) => key.startsWith("val-core/"));

/** Metrics that are no finite number: JSON writes NaN as null. */
const broken = (metrics) =>
  metrics.flatMap((line) =>
    Object.entries(line)
      .filter(([, value]) => typeof value !== "number" || !Number.isFinite(value))
      .map(([key]) => `${key} at step ${line.step}`),
  );

const found = {};
let failed = 0;
mkdirSync(out, { recursive: true });
for (const family of ["lookup", "mixed"]) {
  for (const pair of pairs) {
    if (words.length > 0 && !words.some((word) => `${pair.name}-${family}`.includes(word)))
      continue;
    const name = `${pair.name}-${family}`;
    const folder = join(out, name);
    const began = performance.now();
    const tasks = [`data.train_files=tasks:${family}`, `data.val_files=tasks:${family}`];
    tasks.push(`data.train_batch_size=${prompts[family]}`);
    const failure =
      metricsOf(folder) || write ? undefined : await trainPair(pair, [...common, ...tasks], folder);
    const metrics = metricsOf(folder);
    if (write && !metrics) continue;
    const faults = metrics ? broken(metrics) : ["no last step"];
    if (failure !== undefined || faults.length > 0) {
      failed++;
      console.error(`${name}: ${[...new Set(faults)].slice(0, 5).join(", ")}\n${failure ?? ""}`);
    } else console.log(`${name}: ${((performance.now() - began) / 1000).toFixed(0)} s`);
    if (metrics) (found[family] ??= {})[pair.name] = { metrics, folder };
  }
}
await endTools();
if (write) await writeCurves(found, pairs, new URL("../family-curves/", import.meta.url));
process.exit(failed > 0 ? 1 : 0);
