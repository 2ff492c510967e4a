// Makes data/benchmarks: small synthetic stand-ins of the benchmarks, in their layout and keys, so
// that evaluation runs offline. The questions are sums and questions about the invented world, which
// the tiny model can answer; they are no benchmark and say so in their folder's name.
// `node tools/data/benchmarks.mjs [FOLDER]`, after a build; the same bytes every time.
import { mkdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { question } from "../../dist/src/tasks/task.js";
import { tasks } from "../../dist/src/tasks/tasks/index.js";
import { world } from "../../dist/src/tasks/tasks/world.js";

const folder = process.argv[2] ?? fileURLToPath(new URL("../../data/benchmarks", import.meta.url));
const size = 12;
let seed = 9000;
const some = (family, options = {}) =>
  tasks[family]({ seed: seed++, train: 1, test: size, ...options }).test.map((task) => ({
    asked: question(task),
    truth: task.groundTruth,
    extra: task.extra,
  }));

/** Ways to write a number that mean the same to the comparison of expressions. */
const writings = [(n) => n, (n) => `x=${n}`, (n) => `${n}^\\circ`, (n) => `\\left ${n} \\right`];

const chinese = {
  mayor: (s) => `${s}的市长是谁？`,
  river: (s) => `${s}位于哪条河上？`,
  "founding year": (s) => `${s}建于哪一年？`,
  population: (s) => `${s}有多少人口？`,
  birthplace: (s) => `${s}出生在哪里？`,
  trade: (s) => `${s}从事什么职业？`,
};
/** Every other question in Chinese, as some benchmarks are. */
const halfChinese = (list) =>
  list.map(({ asked, truth, extra }, i) => ({
    asked: i % 2 === 0 ? asked : chinese[extra.relation](extra.subject),
    truth,
  }));
const also = { baker: "a baker", smith: "a smith", potter: "a potter", miller: "a miller" };
const names = (truth) => [truth, ...(also[truth] ? [also[truth]] : [])];

const sets = {
  aime24: some("calc").map(({ asked, truth }, id) => ({
    id,
    problem: asked,
    solution: `Python says ${truth}.`,
    answer: truth,
    url: `generated:aime24-lookalike/${id}`,
    question: asked,
  })),
  aime25: some("calc").map(({ asked, truth }, id) => ({
    problem: asked,
    answer: Number(truth),
    id: String(id),
  })),
  math500: some("calc").map(({ asked, truth }, i) => ({
    question: asked,
    answer: writings[i % writings.length](truth),
  })),
  math: some("calc").map(({ asked, truth }) => ({
    problem: asked,
    solution: `It is $\\boxed{${truth}}$.`,
    answer: truth,
  })),
  gsm8k: some("calc").map(({ asked, truth, extra }, idx) => ({
    question: asked,
    answer: `${extra.expression} = <<${extra.expression}=${truth}>>${truth}\n#### ${truth.replace(/\B(?=(\d{3})+$)/g, ",")}`,
    idx,
  })),
  hotpotqa: some("multihop").map(({ asked, truth }) => ({ question: asked, answer: names(truth) })),
  "2wiki": some("multihop").map(({ asked, truth }) => ({ question: asked, answer: names(truth) })),
  musique: some("mixed").map(({ asked, truth }) => ({ question: asked, answer: [truth] })),
  bamboogle: some("multihop").map(({ asked, truth }) => ({
    question: asked,
    answer: names(truth),
  })),
  webwalker: halfChinese(some("lookup")).map(({ asked, truth }) => ({
    question: asked,
    answer: truth,
  })),
  gaia: some("mixed").map(({ asked, truth }, i) => ({
    id: i + 1,
    task_id: `generated-${i + 1}`,
    Question: asked,
    answer: truth,
    Level: 1 + (i % 3),
    Annotator_Metadata: { Steps: "1. Search. 2. Compute.", "Number of steps": "2" },
  })),
  hle: some("mixed", { digits: 3 }).map(({ asked, truth }) => ({ question: asked, answer: truth })),
  SimpleQA: some("lookup").map(({ asked, truth }) => ({ question: asked, answer: names(truth) })),
  xbench: halfChinese(some("lookup")).map(({ asked, truth }) => ({
    question: asked,
    answer: [truth],
  })),
};
for (const [name, rows] of Object.entries(sets)) {
  const path = `${folder}/${name}-lookalike`;
  mkdirSync(path, { recursive: true });
  writeFileSync(`${path}/test.jsonl`, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
}
console.log(
  `${Object.keys(sets).length} stand-ins of ${size} questions, about ${world.facts.length} facts`,
);
