import assert from "node:assert/strict";
import { test } from "node:test";
import { HfTokenizer } from "../model/tokenizer/hf-tokenizer.js";
import { trainBpe } from "../model/tokenizer/train-bpe.js";
import type { Tool } from "../tools/tool.js";
import { describedIn } from "./describe-tools.js";
import { definitionsOf } from "./native-calls.js";
import { rollout } from "./rollout.js";
import { ScriptedPolicy } from "./testing/scripted-policy.js";
import { familyTokenizer } from "./testing/family-tokenizer.js";

const trained = new HfTokenizer(trainBpe(["weather in Paris and Rome"], { vocabSize: 300 }));
const config = { ...trained.files.config };
delete config.arpo_lab;
/** A pretrained model's, which nobody has told of tags. */
const untold = new HfTokenizer({ ...trained.files, config });
const tool = (tag: string, parameters?: object): Tool => ({
  ...{ name: tag, tag, description: `Says ${tag}.`, execute: () => "yes" },
  ...(parameters ? { parameters } : {}),
});
const weather = tool("weather", {
  type: "object",
  properties: {
    city: { type: "string", description: "Where." },
    unit: { enum: ["C", "F"], default: "C" },
    at: {
      type: "object",
      properties: { lat: { type: "number" }, tags: { type: "array", items: { type: "string" } } },
      required: ["lat"],
    },
  },
  required: ["city"],
});
const ask = (tokenizer: HfTokenizer, prompt: string | object[], options: object = {}) =>
  rollout(
    new ScriptedPolicy(() => ({ text: "no" }), { tokenizer }),
    { prompt: prompt as string },
    {
      ...{ tools: [weather], quiet: true, responseLength: 4 },
      ...options,
    },
  );

test("a system message tells a pretrained model of its tools: enumerations, nested and optional arguments", async () => {
  const { prompt } = await ask(untold, "How warm is it?");
  for (const line of [
    "<weather> Says weather. Write <weather>{JSON}</weather> with these arguments:",
    "  - city (string): Where.",
    '  - unit (one of "C", "F", optional, default "C")',
    "  - at (object, optional)",
    "    - lat (number)",
    "    - tags (list of string, optional)",
  ]) {
    assert.ok(prompt.text.includes(`${line}\n`) || prompt.text.includes(`${line}<`), line);
  }
  assert.ok(prompt.text.startsWith("<|im_start|>system\nYou can use tools."));
  assert.match(prompt.text, /answer follows between <result> and <\/result>/);
  // It stands behind the system message that there is.
  const system = { role: "system", content: "Be brief." };
  const chat = [system, { role: "user", content: "How warm?" }];
  const [first] = describedIn({ prompt: chat }, definitionsOf([tool("look", {})], {})).prompt as [
    typeof system,
  ];
  assert.match(first.content, /^Be brief\.\n\nYou can use tools\.[^]*<look><\/look>$/);
});

test("nothing is told where the model was trained on tags, where the system message names one, or where it is off", async () => {
  const silent = async (given: Promise<{ prompt: { text: string } }>) =>
    assert.doesNotMatch((await given).prompt.text, /You can use tools/);
  await silent(ask(trained, "How warm?"));
  const system = { role: "system", content: "Ask <weather>{}</weather>." };
  const chat = [system, { role: "user", content: "How warm?" }];
  await silent(ask(untold, chat));
  // What a question names decides nothing: it is somebody else's text.
  const named = ask(untold, "What is <weather>{}</weather>?");
  assert.match((await named).prompt.text, /You can use tools/);
  await silent(ask(untold, "How warm?", { describe: false }));
  await silent(ask(untold, "How warm?", { tools: [] }));
  assert.match((await ask(trained, "How warm?", { describe: true })).prompt.text, /You can use/);
});

test("a template that shows tools tells of them, and calls are written as it does", async () => {
  const policy = new ScriptedPolicy(() => ({ text: "x" }), {
    tokenizer: familyTokenizer("qwen2_5", "<|im_end|>"),
  });
  const tree = await rollout(policy, "How warm?", {
    describe: true,
    tools: [weather],
    quiet: true,
  });
  assert.equal(tree.config.calls, "hermes");
  assert.doesNotMatch(tree.prompt.text, /You can use tools\. To call one, write its tag/);
  const tags = await rollout(policy, "?", {
    describe: true,
    calls: "tags",
    tools: [weather],
    quiet: true,
  });
  assert.equal(tags.config.calls, undefined);
  assert.match(tags.prompt.text, /You can use tools\. To call one, write its tag/);
});

test("what a server says of its tools is bounded", () => {
  const deep = (n: number): object =>
    n === 0 ? { type: "string" } : { type: "object", properties: { next: deep(n - 1) } };
  const hostile = {
    ...tool("x", { properties: { a: deep(50), b: { enum: "z".repeat(9000).split("") } } }),
    description: "d".repeat(1e5),
  };
  const [{ content }] = describedIn({ prompt: "?" }, definitionsOf([hostile, hostile], {}))
    .prompt as unknown as [{ content: string }];
  assert.ok(content.length <= 8000);
  let wide: object = { type: "string" };
  for (let i = 0; i < 30; i++) wide = { anyOf: Array<object>(8).fill(wide) };
  let list: object = { type: "string" };
  for (let i = 0; i < 50_000; i++) list = { type: "array", items: list };
  const endless = definitionsOf([tool("y", { properties: { wide, list } })], {});
  const [told] = describedIn({ prompt: "?" }, endless).prompt as unknown as [{ content: string }];
  assert.match(told.content, /- list \(list of list of list of list of any/);
  assert.ok((content.match(/next/g) ?? []).length <= 2 * 5);
});
