// Says what training gave on the questions that it did not see, from the validations that the runs have kept: reward
// before and after with 95% intervals over questions, the difference question by question, and a table of kinds.
//
//   npx arpo-lab run report.ts arpo=runs/arpo-1,runs/arpo-2 grpo=runs/grpo-1,runs/grpo-2
import { readdirSync, readFileSync } from "node:fs";
import { score } from "arpo-lab/learn";
import { loadTrees } from "arpo-lab/rollout";
import type { Task } from "arpo-lab/run";
import { compute_score } from "./reward.js";

/** A reward for each question, by its id. */
type Rewards = Map<string, number>;

/** What the questions are about, by their ids. */
const kinds = new Map<string, string>();

const mean = (values: readonly number[]) => values.reduce((sum, x) => sum + x, 0) / values.length;
const meanOf = (rewards: Rewards) => mean([...rewards.values()]);

/** A mean, and half of its 95% interval. */
function interval(values: readonly number[]): string {
  const middle = mean(values);
  const squares = values.reduce((sum, x) => sum + (x - middle) ** 2, 0);
  const half = 1.96 * Math.sqrt(squares / (values.length - 1) / values.length);
  return `${middle.toFixed(3)} ± ${half.toFixed(3)}`;
}

async function rewardsAt(run: string, step: number): Promise<Rewards> {
  const trees = await loadTrees<Task>(`${run}/validation/${step}.jsonl`);
  for (const { task } of trees) kinds.set(task.id, String(task.extra["kind"] ?? "question"));
  const { trajectories } = await score(trees, compute_score);
  const byQuestion = new Map<string, number[]>();
  for (const { group, score: found } of trajectories) {
    byQuestion.set(group, [...(byQuestion.get(group) ?? []), found.score]);
  }
  return new Map([...byQuestion].map(([id, values]) => [id, mean(values)]));
}

interface Run {
  folder: string;
  before: Rewards;
  after: Rewards;
  /** Of training, without validation. */
  cpuMinutes: number;
  /** That training generated. */
  tokens: number;
}

async function read(folder: string): Promise<Run> {
  const last = Math.max(...readdirSync(`${folder}/validation`).map((file) => parseInt(file)));
  const at = (file: string) =>
    readFileSync(`${folder}/${file}`, "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, number>)
      .find(({ step }) => step === last)!;
  return {
    folder,
    before: await rewardsAt(folder, 0),
    after: await rewardsAt(folder, last),
    cpuMinutes: at("timing.jsonl")["perf/cpu_seconds"]! / 60,
    tokens: at("metrics.jsonl")["cost/tokens"]!,
  };
}

/** Means over runs, question by question. */
const together = (runs: readonly Rewards[]): Rewards =>
  new Map([...runs[0]!.keys()].map((id) => [id, mean(runs.map((run) => run.get(id)!))]));

const only = (rewards: Rewards, wanted: (id: string) => boolean): Rewards =>
  new Map([...rewards].filter(([id]) => wanted(id)));

const line = (cells: readonly string[]) => console.log(`| ${cells.join(" | ")} |`);
function header(...cells: string[]): void {
  line(cells);
  line(cells.map(() => "---"));
}

/** One line for each file of questions: their ids begin with its name. */
function compare(name: string, before: Rewards, after: Rewards, costs: readonly string[]): void {
  const fileOf = (id: string) => id.replace(/-\d+$/, "");
  for (const file of new Set([...before.keys()].map(fileOf))) {
    const [from, to] = [before, after].map((all) => only(all, (id) => fileOf(id) === file));
    const differences = [...to!].map(([id, reward]) => reward - from!.get(id)!);
    const figures = [from!, to!].map((rewards) => interval([...rewards.values()]));
    line([name, `${from!.size} ${file}`, ...figures, interval(differences), ...costs]);
  }
}

const groups = process.argv.slice(2).map((word) => {
  const [name = "", folders = ""] = word.split("=");
  return { name, folders: folders.split(",").filter(Boolean) };
});
if (groups.length === 0 || groups.some(({ folders }) => folders.length === 0)) {
  throw new SyntaxError("Cannot report: runs must be given as NAME=FOLDER,FOLDER");
}
header("runs", "questions", "before", "after", "difference", "tokens", "CPU minutes");
const found: { name: string; before: Rewards; after: Rewards }[] = [];
for (const { name, folders } of groups) {
  const runs = await Promise.all(folders.map(read));
  const costs = (of: readonly Run[]) => [
    String(Math.round(mean(of.map(({ tokens }) => tokens)))),
    mean(of.map(({ cpuMinutes }) => cpuMinutes)).toFixed(1),
  ];
  for (const run of runs) compare(run.folder, run.before, run.after, costs([run]));
  const before = together(runs.map((run) => run.before));
  const after = together(runs.map((run) => run.after));
  if (runs.length > 1) compare(`${name}, all`, before, after, costs(runs));
  found.push({ name, before, after });
}
const [first, ...others] = found;
for (const { name, after } of others) {
  compare(`${first!.name} → ${name}`, first!.after, after, ["", ""]);
}
console.log("");
header("kind", ...found.map(({ name }) => `${name}: before → after`));
for (const kind of new Set(kinds.values())) {
  const of = (rewards: Rewards) => meanOf(only(rewards, (id) => kinds.get(id) === kind)).toFixed(2);
  line([kind, ...found.map(({ before, after }) => `${of(before)} → ${of(after)}`)]);
}
