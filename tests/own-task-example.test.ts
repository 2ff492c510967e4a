// examples/own-task: its data, tool and reward, and the tables of its results.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { judgedTrajectory, type RewardFunction, type Score } from "../src/api/learn.js";
import { type Tool, ToolSet } from "../src/api/tools.js";
import { importModule } from "../src/base/modules/import-module.js";

const root = fileURLToPath(new URL("../../", import.meta.url));
const example = join(root, "examples/own-task");
const load = (file: string) =>
  importModule(new URL(`../../examples/own-task/${file}`, import.meta.url).href);
const { default: tool } = (await load("tool.ts")) as { default: Tool };
const { compute_score } = (await load("reward.ts")) as { compute_score: RewardFunction };
const tools = new ToolSet([tool]);
const ask = async (input: string) => (await tools.call("calc", input)).text;

interface Row {
  id: string;
  prompt: { content: string }[];
  answer: string;
  calls: string[];
}
const rows = (name: string) =>
  readFileSync(join(example, `data/${name}.jsonl`), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Row);

const parts = { train: 200, "held-out": 60, reworded: 40 };

test("own-task: questions are distinct across its files, and their calls give their answers", async () => {
  const seen = new Set<string>();
  for (const [name, count] of Object.entries(parts)) {
    const questions = rows(name);
    assert.equal(questions.length, count);
    for (const { id, prompt, answer, calls } of questions) {
      assert.match(id, new RegExp(`^${name}-`));
      let last = "";
      for (const call of calls) last = await ask(call);
      assert.equal(last, answer, id);
      seen.add(prompt.at(-1)!.content);
    }
  }
  assert.equal(seen.size, 300);
});

test("own-task: the tool computes, converts and adds times, and answers what it cannot read", async () => {
  const cases = {
    "3 * 2.40 + 1.15": "8.35",
    "2.5 lb to kg": "1.13 kg",
    "18:00 - 7:30": "10:30",
    "23:30 + 1:45": "1:15",
    "2 stone to kg": "Error: unknown unit stone",
    "2 kg to ml": "Error: kg is no volume",
  };
  for (const [input, expected] of Object.entries(cases)) assert.equal(await ask(input), expected);
  assert.match(await ask("20 eggs"), /^Error: /);
});

test("own-task: the reward wants the right answer at the end, in the unit asked for", async () => {
  const of = async (answer: string, groundTruth: string) => {
    const judged = judgedTrajectory({ response: `<calc>1</calc>${answer}`, groundTruth });
    return ((await compute_score(judged, { signal: new AbortController().signal })) as Score).score;
  };
  const right = ["4.99 kg", "4.99", "5.0 kg"];
  for (const answer of right)
    assert.equal(await of(`<answer>${answer}</answer>`, "4.99 kg"), 1, answer);
  const wrong = ["4.99 g", "4.99 * 2", "5.2 kg", "", "kg"];
  for (const answer of wrong)
    assert.equal(await of(`<answer>${answer}</answer>`, "4.99 kg"), 0, answer);
  assert.equal(await of("4.99 kg", "4.99 kg"), 0);
  assert.equal(await of("<answer>10:30</answer>", "10:30"), 1);
  assert.equal(await of("<answer>10:31</answer>", "10:30"), 0);
});

interface PublishedRun {
  algorithm: string;
  seed: number;
  before: Record<string, number>;
  after: Record<string, number>;
}

test("the tables of each seed are docs/evidence/real-curves/own-task.jsonl", () => {
  const tables = readFileSync(join(root, "docs/evidence/real-curves/README.md"), "utf8");
  const lines = readFileSync(join(root, "docs/evidence/real-curves/own-task.jsonl"), "utf8")
    .trim()
    .split("\n");
  const runs = lines.map((line) => JSON.parse(line) as PublishedRun);
  const algorithms = [...new Set(runs.map(({ algorithm }) => algorithm))];
  const groups = [
    ...runs.map((run) => [run]),
    ...algorithms.map((name) => runs.filter(({ algorithm }) => algorithm === name)),
  ];
  const mean = (values: readonly number[]) => values.reduce((sum, x) => sum + x, 0) / values.length;
  for (const group of groups) {
    for (const file of ["held-out", "reworded"]) {
      const ids = rows(file).map(({ id }) => id);
      const [before, after] = (["before", "after"] as const).map((when) =>
        ids.map((id) => mean(group.map((run) => run[when][id]!))),
      );
      for (const values of [before!, after!, after!.map((x, i) => x - before![i]!)]) {
        const middle = mean(values);
        const variance =
          values.reduce((sum, x) => sum + (x - middle) ** 2, 0) / (values.length - 1);
        const half = 1.96 * Math.sqrt(variance / values.length);
        const text = `${middle.toFixed(3)} ± ${half.toFixed(3)}`;
        assert.ok(
          tables.includes(text),
          `${group.map(({ algorithm, seed }) => `${algorithm} ${seed}`).join(", ")}: ${file} ${text}`,
        );
      }
    }
  }
});
