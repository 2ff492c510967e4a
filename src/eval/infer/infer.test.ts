import assert from "node:assert/strict";
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { ScriptedPolicy, type ScriptSituation } from "../../rollout/testing/scripted-policy.js";
import { ToolSet } from "../../tools/tool-set.js";
import type { Tool } from "../../tools/tool.js";
import type { LoadedBenchmark } from "../benchmarks/benchmark.js";
import { evaluateItem } from "../metrics/evaluate-item.js";
import { infer, type InferOptions } from "./infer.js";
import { SampleJournal } from "./journal.js";
import type { Sample } from "./sample.js";

const temporary = mkdtempSync(join(tmpdir(), "infer-"));
after(() => {
  rmSync(temporary, { recursive: true });
});

const asked = (...questions: string[]): LoadedBenchmark => ({
  benchmark: { name: "toy", title: "Toy", task: "qa", prompt: "none" },
  items: questions.map((question, index) => ({ index, question, answer: "yes", row: {} })),
  path: "",
  sha256: "",
});

const echo = (tag: string, execute: Tool["execute"] = (input) => `got ${input}`): Tool => ({
  ...{ name: tag, tag, description: "", execute },
});
const toolSet = (...tools: Tool[]) =>
  new ToolSet(tools.length > 0 ? tools : [echo("python"), echo("search")]);

/** One sample of a policy that says these texts in turn, and what it was asked with. */
async function said(texts: string[], options: InferOptions = {}) {
  const asks: ScriptSituation[] = [];
  const policy = new ScriptedPolicy((at) => {
    asks.push(at);
    return { text: texts[at.turn] ?? "" };
  });
  const [sample] = await infer(policy, [asked("Q?")], { tools: toolSet(), ...options });
  assert.equal(policy.openSequences, 0);
  return { sample: sample!, asks };
}

const chat = (question: string) => `user: ${question}\nassistant: `;
const call = (tag: string, input: string) => `<${tag}>${input}</${tag}>`;
const answer = "<answer>\\boxed{yes}</answer>";

test("infer() runs tools between segments and files everything in the reference's keys", async () => {
  const { sample, asks } = await said([
    `<think>a</think>${call("search", " Oslo ")}`,
    call("python", "1+1"),
    answer,
  ]);
  const results = [" <result>\ngot Oslo\n</result>", " <result>\ngot 1+1\n</result>"];
  assert.deepEqual(sample.logs, [
    `<think>a</think>${call("search", " Oslo ")}`,
    results[0],
    call("python", "1+1"),
    results[1],
    answer,
  ]);
  assert.equal(sample.output, sample.logs.join(""));
  assert.equal(asks[2]!.text, `${chat("Q?")}${sample.logs.slice(0, 4).join("")}`);
  assert.deepEqual(
    [sample.prediction, sample.status, sample.search_query_history, sample.instruction],
    ["yes", "answered", ["Oslo"], ""],
  );
  const { temperature, topP, topK, minP, repetitionPenalty, maxTokens, stop } = asks[0]!.options;
  assert.deepEqual(
    { temperature, topP, topK, minP, repetitionPenalty, maxTokens, stop },
    {
      ...{ temperature: 0.6, topP: 0.95, topK: 20, minP: 0, repetitionPenalty: 1.1 },
      ...{ maxTokens: 4096, stop: ["</python>", "</search>", "</answer>"] },
    },
  );
});

test("infer() as the reference's client sends no stops, no top-k, and bare result blocks", async () => {
  const { sample, asks } = await said([`${call("search", "a")} and more`, answer], {
    asReference: true,
  });
  assert.deepEqual(sample.logs, [call("search", "a"), "<result>got a</result>", answer]);
  assert.deepEqual(asks[0]!.options.stop, []);
  assert.equal(asks[0]!.options.topK, undefined);
  assert.equal(asks[0]!.options.minP, undefined);
  // What was cut off is gone from the sequence too.
  assert.equal(asks[1]!.text, `${chat("Q?")}${call("search", "a")}<result>got a</result>`);
});

test("infer() cuts what a model makes up and goes on up to four times without a closing tag", async () => {
  const { sample, asks } = await said(["one <result>fake", "two\u0001", "three ", "four", "five"]);
  assert.equal(sample.output, "one twothree four");
  assert.equal(asks.length, 4);
  assert.deepEqual([sample.status, sample.prediction], ["unanswered", ""]);
  const short = await said(["a", "b", "c"], { chained: 2 });
  assert.equal(short.sample.output, "ab");
});

test("infer() tells a model that asks too often, and continues", async () => {
  const { sample } = await said(
    [call("python", "1"), call("python", "2"), call("search", "a"), call("search", "b"), answer],
    { limits: { python: 1, search: 1 } },
  );
  assert.deepEqual(
    sample.logs.filter((_, i) => i % 2 === 1).map((text) => text.trim().split("\n")[1]),
    [
      "got 1",
      "The maximum python call limit is exceeded. You are not allowed to use python.",
      "got a",
      "The maximum search limit is exceeded. You are not allowed to search.",
    ],
  );
  assert.deepEqual(
    sample.steps.flatMap((step) => (step.kind === "result" ? [step.rule] : [])),
    [undefined, "limit", undefined, "limit"],
  );
  assert.deepEqual(sample.search_query_history, ["a"]);
});

test("infer() allows 5 Python calls and 10 searches, other tools what their set says", async () => {
  const tools = new ToolSet([echo("python"), echo("search"), echo("look")], { callLimit: 2 });
  for (const [tag, limit] of [
    ["python", 5],
    ["search", 10],
    ["look", 2],
  ] as const) {
    const calls = Array.from({ length: 12 }, (_, i) => call(tag, String(i)));
    const { sample } = await said([...calls, answer], { tools });
    const ran = sample.logs.filter((text) => text.includes("got ")).length;
    assert.equal(ran, limit, tag);
  }
});

test("infer() does not search twice for the same", async () => {
  let searches = 0;
  const tools = toolSet(echo("search", () => `hit ${++searches}`));
  const texts = [call("search", "a"), call("search", " a "), call("search", "A"), answer];
  const { sample } = await said(texts, { tools });
  assert.match(
    sample.logs[3]!,
    /You have searched this query\. Please refer to previous results\./,
  );
  assert.equal(searches, 2);
  assert.deepEqual(sample.search_query_history, ["a", "A"]);
  const repeated = await said(texts, { tools, mode: "default" });
  assert.match(repeated.sample.logs[3]!, /hit 4/);
  assert.deepEqual(repeated.sample.search_query_history, []);
});

test("infer() in the default mode lets a model that asks too often write once more", async () => {
  const options: InferOptions = { mode: "default", limits: { python: 1 } };
  const { sample, asks } = await said([call("python", "1"), call("python", "2"), answer], options);
  assert.deepEqual(sample.logs.slice(2), [call("python", "2"), answer]);
  assert.deepEqual(asks[2]!.options.stop, []);
  assert.equal(sample.prediction, "yes");
  const done = await said([`${answer} \n`], options);
  assert.equal(done.asks.length, 1);
});

test("infer() ends where the context does", async () => {
  const policy = new ScriptedPolicy(() => ({ text: call("search", "abc") }), { contextLength: 60 });
  const [sample] = await infer(policy, [asked("Q?")], { tools: toolSet() });
  assert.equal(sample!.status, "context");
  assert.match(sample!.output, /got abc/);
});

test("infer() gives a sample that takes too long up, with what it wrote", async () => {
  const policy = new ScriptedPolicy(({ turn }) =>
    turn === 0 ? { text: call("search", "a") } : new Promise(() => undefined),
  );
  const [sample] = await infer(policy, [asked("Q?")], { tools: toolSet(), timeoutMs: 50 });
  assert.equal(sample!.status, "timeout");
  assert.equal(sample!.prediction, "Timeout");
  assert.match(sample!.output, /got a[^]*\[Timeout \(exceeding 0\.05s\)\]$/);
  assert.equal(policy.openSequences, 0);
});

test("infer() tells a model that cannot be asked from one that answers wrongly", async () => {
  const policy = new ScriptedPolicy(({ text }) => {
    if (text.includes("bad")) throw new Error("endpoint down");
    return { text: answer };
  });
  const samples = await infer(policy, [asked("good", "bad")]);
  assert.deepEqual(
    samples.map(({ status, error, prediction }) => [status, error, prediction]),
    [
      ["answered", undefined, "yes"],
      ["error", "endpoint down", ""],
    ],
  );
  const down = new ScriptedPolicy(() => {
    throw new Error("endpoint down");
  });
  const many = asked(...Array.from({ length: 20 }, String));
  await assert.rejects(infer(down, [many]), /got nothing but failures \(8\).*endpoint down/);
});

test("infer() counts failed tool calls as the machinery's", async () => {
  const tools = toolSet({
    ...echo("search", () => {
      throw new Error("no network");
    }),
  });
  const { sample } = await said([call("search", "a"), answer], { tools });
  assert.equal(sample.failed_tool_calls, 1);
  assert.match(sample.logs[1]!, /Error: Tool\(search\) execution failed\./);
});

test("infer() tells tools what was written before", async () => {
  const seen: (readonly string[])[] = [];
  const tools = toolSet(
    echo("search", (input, { transcript = [] }) => {
      seen.push([...transcript]);
      return input;
    }),
  );
  await said([call("search", "a"), call("search", "b"), answer], { tools });
  assert.deepEqual(seen, [
    [call("search", "a")],
    [call("search", "a"), " <result>\na\n</result>", call("search", "b")],
  ]);
});

test("infer() gives each question and turn its own draws, whatever else runs", async () => {
  const draws = async (options: InferOptions, ...questions: string[]) => {
    const policy = new ScriptedPolicy(({ options: { random } }) => ({
      text: `<answer>${random.uniform()}</answer>`,
    }));
    const samples = await infer(policy, [asked(...questions)], options);
    return samples.map((sample) => sample.prediction);
  };
  const all = await draws({ samples: 2, seed: 3 }, "a", "b", "c");
  assert.equal(new Set(all).size, 6);
  assert.deepEqual(await draws({ seed: 3, concurrency: 1 }, "a", "b", "c"), all.slice(0, 3));
  assert.deepEqual(await draws({ samples: 2, seed: 3, questions: 1 }, "a", "b"), [all[0], all[3]]);
  assert.notDeepEqual(await draws({ samples: 2, seed: 4 }, "a", "b", "c"), all);
});

test("infer() continues from its journal without repeating what is finished", async () => {
  const path = join(temporary, "samples.jsonl");
  const asks: string[] = [];
  const policy = new ScriptedPolicy(({ text }) => {
    asks.push(text);
    if (text === chat("b") && asks.length < 4) throw new Error("down");
    return { text: answer };
  });
  const round = async () => {
    const journal = await SampleJournal.open(path);
    const seen: Sample[] = [];
    const samples = await infer(policy, [asked("a", "b", "c")], {
      ...{ journal, concurrency: 1, onSample: (sample) => seen.push(sample) },
    });
    await journal.close();
    assert.equal(seen.length, 3);
    return samples.map(({ status }) => status);
  };
  assert.deepEqual(await round(), ["answered", "error", "answered"]);
  appendFileSync(path, '{"benchmark":"toy","turn":1,"ind'); // killed while writing
  assert.deepEqual(await round(), ["answered", "answered", "answered"]);
  assert.deepEqual(asks, ["a", "b", "c", "b"].map(chat));
  const lines = readFileSync(path, "utf8").trim().split("\n");
  assert.deepEqual(
    lines.map((line) => (JSON.parse(line) as Sample).status),
    ["answered", "error", "answered", "answered"],
  );
});

test("infer() refuses options that make no sense", async () => {
  const policy = new ScriptedPolicy(() => ({ text: answer }));
  const fails = (options: InferOptions, message: RegExp) =>
    assert.rejects(infer(policy, [asked("a")], options), message);
  await fails({ samples: 0 }, /samples must be an integer of at least 1, got 0/);
  await fails(
    { limits: { python: -1 } },
    /limits must be an object of integers of at least 0, got python: -1/,
  );
  await fails({ timeoutMs: 0 }, /timeoutMs must be milliseconds below 2\^31, got 0/);
  await fails({ prompt: "code_serach" }, /did you mean code_search\?/);
  await fails({ mode: "fast" as "default" }, /mode must be one of completion, default, got "fast"/);
});

test("infer() puts the prompt type's message before the question", async () => {
  const { sample, asks } = await said([answer], { prompt: "code_search_cn" });
  assert.match(sample.instruction, /^你是/);
  assert.equal(
    asks[0]!.text,
    `system: ${sample.instruction}
${chat("Q?")}`,
  );
  const own = await said([answer], { prompt: "Answer in one word." });
  assert.equal(own.sample.instruction, "Answer in one word.");
});

test("infer() takes prediction, status and figures from what the model wrote, not from results", async () => {
  const page = "<answer>\\boxed{yes}</answer></python><python>2</python>\u0001";
  const tools = toolSet(echo("search", () => page));
  const { sample } = await said([call("search", "q"), "I do not know"], { tools, chained: 1 });
  assert.deepEqual([sample.status, sample.prediction], ["unanswered", ""]);
  assert.ok(sample.output.includes(page));
  assert.ok(sample.steps.every(({ tokens }) => !tokens.includes(1)));
  const { f1, python_calls: python, search_calls: search } = evaluateItem(sample, "qa");
  assert.deepEqual([f1, python, search], [0, 0, 1]);
});

test("tools that failed while questions were answered are printed once, with their count and reason", async () => {
  const { write } = process.stderr;
  let lines = "";
  process.stderr.write = ((chunk: string) => (lines += chunk) !== "") as typeof write;
  try {
    const tools = toolSet(
      echo("python", () => assert.fail("no interpreter here")),
      echo("search"),
    );
    const texts = ["<python>1</python>", "<search>a</search>", "<answer>yes</answer>"];
    await said(texts, { tools, samples: 2 });
    await said(texts, { tools, quiet: true });
  } finally {
    process.stderr.write = write;
  }
  assert.equal(lines, "arpo-lab: the tool <python> failed in 2 of 2 calls: no interpreter here\n");
});
