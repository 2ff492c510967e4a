// Says what training gave on the held-out questions, from the validations that the runs have kept: reward before
// and after with 95% intervals over questions, and the difference question by question.
//
//   npx arpo-lab run report.ts arpo=runs/arpo-1,runs/arpo-2 grpo=runs/grpo-1,runs/grpo-2
import { readdirSync, readFileSync } from "node:fs";
import { score } from "arpo-lab/learn";
import { loadTrees } from "arpo-lab/rollout";
import type { Task } from "arpo-lab/run";
import { compute_score } from "./reward.js";

/** A reward for each question, by its id. */
type Rewards = Map<string, number>;

const mean = (values: readonly number[]) => values.reduce((sum, x) => sum + x, 0) / values.length;

/** A mean, and half of its 95% interval. */
function interval(values: readonly number[]): string {
  const middle = mean(values);
  const squares = values.reduce((sum, x) => sum + (x - middle) ** 2, 0);
  const half = 1.96 * Math.sqrt(squares / (values.length - 1) / values.length);
  return `${middle.toFixed(3)} ± ${half.toFixed(3)}`;
}

async function rewardsAt(run: string, step: number): Promise<Rewards> {
  const { rows } = await score(
    await loadTrees<Task>(`${run}/validation/${step}.jsonl`),
    compute_score,
  );
  const byQuestion = new Map<string, number[]>();
  for (const { group, score: found } of rows) {
    byQuestion.set(group, [...(byQuestion.get(group) ?? []), found.score]);
  }
  return new Map([...byQuestion].map(([id, values]) => [id, mean(values)]));
}

/** Means over runs, question by question. */
const together = (runs: readonly Rewards[]): Rewards =>
  new Map([...runs[0]!.keys()].map((id) => [id, mean(runs.map((run) => run.get(id)!))]));

const difference = (from: Rewards, to: Rewards) => [...to].map(([id, x]) => x - from.get(id)!);

/** The questions of one file: their ids begin with its name. */
const of = (file: string, rewards: Rewards): Rewards =>
  new Map([...rewards].filter(([id]) => id.startsWith(`${file}-`)));

const groups = process.argv.slice(2).map((word) => {
  const [name = "", folders = ""] = word.split("=");
  return { name, folders: folders.split(",") };
});
if (groups.length === 0 || groups.some(({ folders }) => folders[0] === "")) {
  throw new SyntaxError("Cannot report: runs must be given as NAME=FOLDER,FOLDER");
}

interface Row {
  runs: string;
  questions: string;
  before: string;
  after: string;
  difference: string;
  "CPU minutes"?: string;
}
const rows: Row[] = [];
const ends = new Map<string, Rewards>();
for (const { name, folders } of groups) {
  const before: Rewards[] = [];
  const after: Rewards[] = [];
  const minutes: number[] = [];
  for (const folder of folders) {
    const steps = readdirSync(`${folder}/validation`).map((file) => parseInt(file));
    before.push(await rewardsAt(folder, 0));
    after.push(await rewardsAt(folder, Math.max(...steps)));
    const last = readFileSync(`${folder}/timing.jsonl`, "utf8").trim().split("\n").at(-1)!;
    minutes.push((JSON.parse(last) as Record<string, number>)["perf/cpu_seconds"]! / 60);
  }
  const files = new Set([...before[0]!.keys()].map((id) => id.replace(/-\d+$/, "")));
  const add = (runs: string, from: Rewards, to: Rewards, cpu: number) => {
    for (const file of files) {
      const [start, end] = [of(file, from), of(file, to)];
      rows.push({
        ...{ runs, questions: `${start.size} ${file}` },
        ...{ before: interval([...start.values()]), after: interval([...end.values()]) },
        ...{ difference: interval(difference(start, end)), "CPU minutes": cpu.toFixed(0) },
      });
    }
  };
  folders.forEach((folder, i) => add(folder, before[i]!, after[i]!, minutes[i]!));
  if (folders.length > 1) add(`${name}, all`, together(before), together(after), mean(minutes));
  ends.set(name, together(after));
}
const [[first, from], ...others] = [...ends] as [[string, Rewards], ...[string, Rewards][]];
for (const [name, to] of others) {
  const files = new Set([...from.keys()].map((id) => id.replace(/-\d+$/, "")));
  for (const file of files) {
    const [start, end] = [of(file, from), of(file, to)];
    rows.push({
      ...{ runs: `${first} → ${name}`, questions: `${start.size} ${file}` },
      ...{ before: interval([...start.values()]), after: interval([...end.values()]) },
      difference: interval(difference(start, end)),
    });
  }
}
const titles = ["runs", "questions", "before", "after", "difference", "CPU minutes"] as const;
const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
console.log(line(titles));
console.log(line(titles.map(() => "---")));
for (const row of rows) console.log(line(titles.map((title) => row[title] ?? "")));
