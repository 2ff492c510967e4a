import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { defined } from "../../common/options/defined.js";
import { ScriptedPolicy } from "../rollout/testing/scripted-policy.js";
import { ToolSet } from "../tools/tool-set.js";
import { evaluate } from "./evaluate.js";
import { evaluateOutputs } from "./evaluate-outputs.js";

const temporary = mkdtempSync(join(tmpdir(), "outputs-"));
after(() => {
  rmSync(temporary, { recursive: true });
});

/** A file as the reference's inference writes it. */
const item = (question: string, prediction: string, output: string, logs: string[] = []) => ({
  ...{ instruction: "be good", input: question, output, prediction, answer: ["Oslo"], logs },
  ...{ search_query_history: [], timing: { llm_time: 1 } },
});

test("evaluateOutputs() reads the reference's files and tells how each answer ended", async () => {
  const folder = join(temporary, "theirs/hotpotqa");
  mkdirSync(folder, { recursive: true });
  const call = "<think>?</think><search>capital</search>";
  const logs = [call, "<result>Oslo</result>", "<answer>\\boxed{Oslo}</answer>"];
  const refused = [
    call,
    "<result>You have searched this query. Please refer to previous results.</result>",
    "<python>1</python>",
    "<result>The maximum python call limit is exceeded. You are not allowed to use python.</result>",
    "no idea",
  ];
  const items = [
    item("a", "Oslo", logs.join(""), logs),
    item("b", "Timeout", `${call}\n[Timeout (exceeding 1500s)]`, [call]),
    item("c", "Error: no connection", "Error: no connection"),
    item("d", "", "no idea", refused),
  ];
  writeFileSync(join(folder, "hotpotqa_output_1.json"), JSON.stringify(items));
  const evaluation = await evaluateOutputs(join(temporary, "theirs"), {
    out: join(temporary, "x"),
  });
  const [report] = evaluation.benchmarks;
  assert.deepEqual(report!.status, {
    ...{ answered: 1, unanswered: 1, timeout: 1, context: 0, error: 1 },
  });
  assert.equal(report!.accuracy.value, 1 / 3);
  assert.deepEqual(report!.tools, {
    python: { calls: 0, failed: 0, limited: 1, repeated: 0 },
    search: { calls: 1, failed: 0, limited: 0, repeated: 1 },
  });
  assert.deepEqual(readdirSync(join(temporary, "x/hotpotqa")), [
    "hotpotqa_output_1_metrics.json",
    "hotpotqa_output_1_metrics_overall.json",
  ]);
  assert.match(
    String(evaluation),
    /^Evaluation of the answers in theirs\nthe answers in theirs, no judge;/,
  );
});

test("evaluateOutputs() of our own files gives the figures they were written with", async () => {
  const folder = join(temporary, "ours");
  const tools = new ToolSet([
    { name: "python", tag: "python", description: "", execute: () => "520" },
  ]);
  const policy = new ScriptedPolicy(({ turn }) => ({
    text: turn === 0 ? "<python>1</python>" : "<answer>\\boxed{520}</answer>",
  }));
  const made = await evaluate(policy, "aime24-lookalike", { folder, tools, samples: 2 });
  const read = await evaluateOutputs(folder, { out: join(temporary, "again") });
  const without = ({ sha256, ...report }: (typeof made.benchmarks)[0]) => ({
    report,
    of: typeof sha256,
  });
  assert.deepEqual(read.benchmarks.map(without), made.benchmarks.map(without));
  assert.match(read.notice, /^Synthetic stand-ins/);
  const file = "aime24-lookalike/aime24-lookalike_output_2_metrics.json";
  const [a, b] = [folder, join(temporary, "again")].map((f) => readFileSync(join(f, file), "utf8"));
  const plain = (json: string) => json.replace(/"timing": \{[^}]*\}/g, "");
  assert.equal(plain(b!), plain(a!));
});

test("evaluateOutputs() takes a prediction that is not there out of the output, and says so", async () => {
  const folder = mkdtempSync(join(temporary, "bare-"));
  const bare = (output: string, prediction?: string | null) => ({
    ...{ input: "q", answer: "1000", output },
    ...defined({ prediction }),
  });
  const items = [
    bare("<think>2</think><answer>It is \\boxed{1,000}.</answer>"),
    bare("so \\boxed{1000}", null),
    bare("<answer>\\boxed{1000}</answer>", ""), // an empty prediction is one: the last lines are compared
    bare("<answer>\\boxed{1000}</answer>", "7"),
  ];
  writeFileSync(join(folder, "mine_output_1.json"), JSON.stringify(items));
  const read = await evaluateOutputs(folder, { task: "math-numeric" });
  assert.deepEqual(
    read.samples.map(({ prediction, metrics }) => [prediction, metrics.math_equal]),
    [
      ["1,000", 1],
      ["1000", 1],
      ["", 0],
      ["7", 0],
    ],
  );
  assert.match(String(read), /, 2 predictions taken out of the outputs, no judge;/);
  assert.match(String(read), / 50\.0 +math-numeric /);
  const asReference = await evaluateOutputs(folder, { task: "math" });
  assert.deepEqual(
    asReference.samples.map(({ metrics }) => metrics.math_equal),
    [0, 1, 0, 0],
  );
});

test("evaluateOutputs() says what it cannot read", async () => {
  const folder = mkdtempSync(join(temporary, "bad-"));
  await assert.rejects(evaluateOutputs(folder), /there must be a NAME_output_TURN\.json in it/);
  writeFileSync(
    join(folder, "mine_output_1.json"),
    '[{"input": "q", "answer": "1", "output": ""}]',
  );
  await assert.rejects(evaluateOutputs(folder), /Cannot find a benchmark: .* got mine/);
  assert.equal((await evaluateOutputs(folder, { task: "math" })).benchmarks[0]!.name, "mine");
  writeFileSync(join(folder, "mine_output_1.json"), '[{"input": 3}]');
  await assert.rejects(
    evaluateOutputs(folder, { task: "math" }),
    /mine_output_1\.json: it must hold/,
  );
});
