import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { ScriptedPolicy } from "../rollout/testing/scripted-policy.js";
import { ToolSet } from "../tools/tool-set.js";
import type { LoadedBenchmark } from "./benchmarks/benchmark.js";
import { evaluate } from "./evaluate.js";
import type { EvaluateOptions } from "./evaluate-benchmarks.js";
import { evaluateItem, type TaskType } from "./metrics/evaluate-item.js";
import { LlmJudge } from "./judge/llm-judge.js";
import { comparisonOf, faultsOf } from "./report/evaluation.js";
import type { AnswerJudge } from "./report/score-samples.js";

const temporary = mkdtempSync(join(tmpdir(), "evaluate-"));
after(() => {
  rmSync(temporary, { recursive: true });
});

const asked = (name: string, task: TaskType, pairs: [string, string][]): LoadedBenchmark => ({
  benchmark: { name, title: name, task, prompt: "none" },
  items: pairs.map(([question, answer], index) => ({ index, question, answer, row: {} })),
  path: "",
  sha256: name,
});

/** Says "right" to questions with an A in every turn, to those with a B in one of two. */
const policy = () =>
  new ScriptedPolicy(({ text, options }) => {
    const right = text.includes("A") || (text.includes("B") && options.random.uniform() < 0.5);
    return { text: `<answer>\\boxed{${right ? "right" : "left"}}</answer>` };
  });
const questions: [string, string][] = [
  ["A1", "right"],
  ["A2", "right"],
  ["B1", "right"],
  ["C1", "right"],
];
const toy = asked("toy", "qa", questions);

test("evaluate() gives accuracy, unbiased pass@k and their intervals", async () => {
  const evaluation = await evaluate(policy(), toy, { samples: 4, seed: 1 });
  const [report] = evaluation.benchmarks;
  const rightOf = (i: number) =>
    evaluation.samplesOf("toy", i).filter(({ prediction }) => prediction === "right").length;
  const c = rightOf(2);
  assert.deepEqual([rightOf(0), rightOf(1), rightOf(3)], [4, 4, 0]);
  assert.ok(c > 0 && c < 4, `${c} of 4`);
  const { value, low, high, of } = report!.accuracy;
  assert.equal(of, "f1");
  assert.ok(Math.abs(value - (2 + c / 4) / 4) < 1e-12);
  assert.ok(low < value && value < high && low > 0 && high < 1);
  assert.equal(report!.passAt.length, 4);
  assert.equal(report!.passAt[3]!.value, 3 / 4);
  // By hand: 1 - C(4-c, 2) / C(4, 2).
  const choose = (n: number) => (n * (n - 1)) / 2;
  const two = (2 + 1 - choose(4 - c) / 6) / 4;
  assert.ok(Math.abs(report!.passAt[1]!.value - two) < 1e-12);
  assert.equal(report!.turns.length, 4);
  assert.equal(report!.summary.num_valid_answer, "16 of 16");
});

test("evaluate() lets a judge decide, and says where it could not be asked", async () => {
  const judge: AnswerJudge = {
    name: "kind",
    judge: (list) =>
      Promise.resolve(
        list.map(({ question, prediction, answer }) =>
          question === "C1"
            ? { correct: false, failure: "status 500" }
            : { correct: true, reply: `${prediction} is ${JSON.stringify(answer)}: Correct` },
        ),
      ),
  };
  const evaluation = await evaluate(policy(), toy, { judge });
  const [report] = evaluation.benchmarks;
  assert.deepEqual([report!.accuracy.of, report!.accuracy.value], ["llm_equal", 0.75]);
  assert.equal(report!.passAt[0]!.value, 0.75);
  assert.deepEqual(faultsOf(report!), [
    "toy: 1 verdicts could not be had; equal expressions stand in for them.",
  ]);
  assert.match(evaluation.samples[2]!.metrics.llm_response!, /: Correct$/);
  assert.match(String(evaluation), /judged by kind/);
  const short: AnswerJudge = { name: "short", judge: () => Promise.resolve([]) };
  await assert.rejects(evaluate(policy(), toy, { judge: short }), /must give 4 verdicts, got 0/);
});

test("evaluate() asks an LlmJudge over HTTP, and knows its verdicts the next time", async (t) => {
  let requests = 0;
  const server = createServer((request, response) => {
    requests++;
    request.resume();
    const message = { role: "assistant", content: "<judgment>Correct</judgment>" };
    response.end(JSON.stringify({ choices: [{ message, finish_reason: "stop" }] }));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  const cacheFile = join(temporary, "verdicts.jsonl");
  for (const asked of [2, 2]) {
    const judge = new LlmJudge({ urls: url, model: "m", cacheFile });
    const { benchmarks } = await evaluate(policy(), toy, { judge, questions: 4, seed: 1 });
    judge.close();
    assert.equal(benchmarks[0]!.accuracy.value, 1);
    assert.ok(requests <= asked, `${requests} requests`);
  }
  assert.ok(requests > 0);
});

test("evaluate() has the last lines judged where there is no prediction", async () => {
  const judged: string[] = [];
  const judge: AnswerJudge = {
    name: "listens",
    judge: (list) =>
      Promise.resolve(
        list.map(({ prediction }) => {
          judged.push(prediction);
          return { correct: false };
        }),
      ),
  };
  const rambles = new ScriptedPolicy(({ turn }) => ({
    text: turn === 0 ? "1\n2\n\n3\n4\n5\n6" : "",
  }));
  await evaluate(rambles, toy, { judge, questions: 1 });
  assert.deepEqual(judged, ["2\n3\n4\n5\n6"]);
});

test("evaluate() leaves what could not be made out of the figures, and says so", async () => {
  const faulty = new ScriptedPolicy(({ text }) => {
    if (text.includes("C1")) throw new Error("endpoint down");
    return {
      text: "<search>x</search>".repeat(Number(!text.includes("x"))) + "<answer>right</answer>",
    };
  });
  const tools = new ToolSet([
    { name: "search", tag: "search", description: "", execute: () => ({ text: "", ok: false }) },
  ]);
  const { benchmarks } = await evaluate(faulty, toy, { tools });
  const [report] = benchmarks;
  assert.equal(report!.status.error, 1);
  assert.equal(report!.accuracy.value, 1);
  assert.equal(report!.passAt[0]!.questions, 3);
  assert.deepEqual(report!.tools, { search: { calls: 3, failed: 3, limited: 0, repeated: 0 } });
  const faults = faultsOf(report!);
  assert.match(
    faults[0]!,
    /1 sample could not be made \(left out of every figure\); run the same command/,
  );
  assert.match(faults[1]!, /3 of 3 calls of search failed/);
});

test("evaluate() writes the reference's files, and the same bytes when it goes on", async () => {
  const sums = asked("sums", "math", [
    ["A", "right"],
    ["B", "right"],
  ]);
  const folder = join(temporary, "run");
  const first = await evaluate(policy(), [toy, sums], { folder, samples: 2 });
  assert.deepEqual(readdirSync(join(folder, "toy")), [
    "toy_output_1.json",
    "toy_output_1_metrics.json",
    "toy_output_1_metrics_overall.json",
    "toy_output_2.json",
    "toy_output_2_metrics.json",
    "toy_output_2_metrics_overall.json",
  ]);
  const read = (name: string) => readFileSync(join(folder, name), "utf8");
  const items = JSON.parse(read("toy/toy_output_1.json")) as Record<string, unknown>[];
  assert.deepEqual(Object.keys(items[0]!), [
    "instruction",
    "input",
    "output",
    "prediction",
    "answer",
    "logs",
    "search_query_history",
    "timing",
    "status",
  ]);
  assert.deepEqual(
    items.map(({ input }) => input),
    ["A1", "A2", "B1", "C1"],
  );
  const overall = JSON.parse(read("sums/sums_output_2_metrics_overall.json")) as object;
  assert.deepEqual(overall, first.benchmarks[1]!.turns[1]);

  const files = (readdirSync(folder, { recursive: true }) as string[]).filter((f) =>
    /\.\w+$/.test(f),
  );
  const before = files.map((file) => [file, read(file)]);
  const silent = new ScriptedPolicy(() => {
    throw new Error("nobody should ask");
  });
  await evaluate(silent, [toy, sums], { folder, samples: 2 });
  assert.deepEqual(
    files.map((file) => [file, read(file)]),
    before,
  );
});

test("evaluate() does not go on in a folder that was made otherwise", async () => {
  const folder = join(temporary, "settings");
  const run = (options: EvaluateOptions, which = toy) =>
    evaluate(policy(), which, { folder, questions: 1, ...options });
  await run({});
  await assert.rejects(run({ seed: 2 }), /were made with seed 0, got 2; choose another folder/);
  await assert.rejects(run({ sampling: { temperature: 1 } }), /were made with toy .*0\.6/);
  await assert.rejects(run({}, { ...toy, sha256: "other" }), /were made with toy/);
  await run({ weights: "a" });
  await assert.rejects(run({ weights: "b" }), /were made with weights "a", got "b"/);
  await run({ samples: 2 });
  await run({}, asked("more", "qa", questions));
  await run({});
  assert.ok(existsSync(join(folder, "more/more_output_1.json")));
});

test("evaluate() never takes a stand-in for the benchmark", async () => {
  const answers = new ScriptedPolicy(() => ({ text: "<answer>\\boxed{1}</answer>" }));
  const alike = await evaluate(answers, ["gaia-lookalike", "hle-lookalike"], { questions: 1 });
  assert.match(String(alike).split("\n")[0]!, /^Synthetic stand-ins, not the benchmarks/);
  assert.deepEqual(alike.benchmarks.flatMap(comparisonOf), []);
  const gaia = { ...asked("gaia", "qa", questions) };
  const both = await evaluate(answers, ["hle-lookalike", gaia], { samples: 5 });
  assert.match(both.notice, /^hle-lookalike: synthetic stand-ins, not the benchmarks/);
  const judge = {
    name: "strict",
    judge: async (asked: readonly unknown[]) => asked.map(() => ({ correct: false })),
  };
  const real = await evaluate(answers, gaia, { samples: 5, judge });
  assert.equal(real.notice, "Evaluation of scripted");
  const compared = real.benchmarks.flatMap(comparisonOf);
  assert.equal(compared.length, 3);
  assert.match(
    compared[0]!,
    /^gaia pass@5: here 0\.0 \(0\.0 - .*\); ARPO with Qwen3-14B 61\.2 \(README of RUC-NLPIR\/ARPO/,
  );
});

test("a published figure stands beside ours only where the same was measured on the whole set", async () => {
  const answers = new ScriptedPolicy(() => ({ text: "<answer>\\boxed{1}</answer>" }));
  const gaia = asked("gaia", "qa", questions);
  const judging = (failure?: string) => ({
    name: "some",
    judge: async (all: readonly unknown[]) => all.map(() => ({ correct: true, failure })),
  });
  const lines = async (options: EvaluateOptions) =>
    (await evaluate(answers, gaia, options)).benchmarks.flatMap(comparisonOf);
  const [, first, five] = await lines({ judge: judging() });
  assert.match(first!, /^gaia pass@1: here 100\.0 \(.*\); AEPO with Qwen3-14B 47\.6 \(/);
  assert.match(five!, /^gaia pass@5: AEPO with .* 65\.0 \(.*\); not comparable: pass@5 was not/);
  const unlike: [EvaluateOptions, RegExp][] = [
    [{}, /; not comparable: a judge decided there, none was asked here$/],
    [{ judge: judging(), questions: 1 }, /; not comparable: 1 of 4 questions were asked here$/],
    [{ judge: judging("gone") }, /; not comparable: 4 verdicts could not be had here$/],
  ];
  for (const [options, message] of unlike) {
    const found = (await lines(options))[1]!;
    assert.match(found, message);
    assert.doesNotMatch(found, /here \d/);
  }
});

test("evaluate() refuses no benchmark, and the same one twice", async () => {
  await assert.rejects(
    evaluate(policy(), []),
    /there must be a task or a benchmark, got an empty list/,
  );
  for (const none of [undefined, [undefined], 7])
    await assert.rejects(
      evaluate(policy(), none as never),
      /^TypeError: Cannot evaluate: there must be a list of tasks or a benchmark, got (undefined|7)$/,
    );
  await assert.rejects(evaluate(policy(), [toy, toy]), /each once, got toy, toy/);
});

test("evaluateItem() takes what is not there for empty, as outputs of other programs may be", () => {
  const item = { input: "q", answer: "last" };
  assert.equal(evaluateItem({ ...item, output: "one\n\nlast" }, "qa").f1, 2 / 3);
  assert.equal(evaluateItem({ ...item, output: "last", prediction: [] }, "qa").em, 1);
  assert.equal(evaluateItem({ ...item, prediction: "last" }, "qa").em, 1);
  assert.equal(evaluateItem(item, "math").is_valid_answer, false);
});
