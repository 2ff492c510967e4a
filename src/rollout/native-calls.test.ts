import assert from "node:assert/strict";
import { test } from "node:test";
import type { HfTokenizer } from "../model/tokenizer/hf-tokenizer.js";
import type { Environment } from "../environments/environment.js";
import { presets } from "../run/presets.js";
import { dialectOfTemplate } from "../tools/calls/call-format.js";
import type { Tool } from "../tools/tool.js";
import { treesToJsonl } from "./files/tree-jsonl.js";
import type { RolloutOptions } from "./options.js";
import { rollout } from "./rollout.js";
import { familyTokenizer } from "./testing/family-tokenizer.js";
import { ScriptedPolicy } from "./testing/scripted-policy.js";

const families = {
  hermes: familyTokenizer("qwen2_5", "<|im_end|>"),
  json: familyTokenizer("llama3_1", "<|eot_id|>"),
  xml: familyTokenizer("qwen3_5_nothink", "<|im_end|>"),
};

const python: Tool = {
  name: "python",
  tag: "python",
  description: "Runs Python.",
  parameters: { type: "object", properties: { code: { type: "string" } }, required: ["code"] },
  execute: (input) => (input === "1+1" ? "2" : `ran ${input}`),
};
const search: Tool = {
  ...{ name: "search", tag: "search", description: "Searches.", emptyIsAnswer: true },
  execute: (input) => `found ${input}`,
};
const definitions = [python, search].map(({ tag, description, parameters }) => ({
  type: "function",
  function: {
    ...{ name: tag, description },
    parameters: parameters ?? {
      ...{ type: "object", properties: { input: { type: "string" } } },
      required: ["input"],
    },
  },
}));
const question = [{ role: "user", content: "1+1?" }];

/** A rollout whose model writes these turns, one after another. */
async function turns(
  tokenizer: HfTokenizer,
  texts: readonly string[],
  options: RolloutOptions = {},
) {
  const end = tokenizer.decode([tokenizer.eosId], { skipSpecial: false });
  const policy = new ScriptedPolicy(({ turn }) => ({ text: `${texts[turn]!}${end}` }), {
    tokenizer,
  });
  const all = { calls: "auto" as const, tools: [python, search], responseLength: 2000, ...options };
  return rollout(policy, { prompt: question }, all);
}

const canonical: Record<keyof typeof families, string> = {
  hermes: '<tool_call>\n{"name": "python", "arguments": {"code": "1+1"}}\n</tool_call>',
  json: '{"name": "python", "parameters": {"code": "1+1"}}',
  xml: "<tool_call>\n<function=python>\n<parameter=code>\n1+1\n</parameter>\n</function>\n</tool_call>",
};

for (const [name, tokenizer] of Object.entries(families)) {
  test(`${name}: the ids of a canonical call and its answer are those of the rendered chat`, async () => {
    assert.equal(dialectOfTemplate(tokenizer)?.name, name);
    const tree = await turns(tokenizer, [canonical[name as keyof typeof families], "It is 2."]);
    const [trajectory] = tree.trajectories;
    const call = { type: "function", function: { name: "python", arguments: { code: "1+1" } } };
    const chat = [
      ...question,
      { role: "assistant", content: "", tool_calls: [call] },
      { role: "tool", content: "2" },
      { role: "assistant", content: "It is 2." },
    ];
    // Templates write a line end behind a turn, which no model does.
    const rendered = tokenizer.chat(chat, { tools: definitions }).trimEnd();
    const ids = [...trajectory!.prompt, ...trajectory!.tokens];
    assert.equal(tokenizer.decode(ids, { skipSpecial: false }), rendered);
    assert.deepEqual(ids, tokenizer.encode(rendered));
    assert.deepEqual(
      tree.nodes.map(({ kind }) => kind),
      ["model", "tool", "model"],
    );
    const { tool } = tree.nodes[1]!;
    assert.deepEqual([tool!.tag, tool!.input, tool!.text], ["python", "1+1", "2"]);
    assert.deepEqual([trajectory!.end, trajectory!.calls], ["answer", 1]);
    // Both turns are trained on, to the end token of each; the answer's words are not.
    const own = tree.nodes.flatMap(({ kind, tokens }) => [...tokens].map(() => kind === "model"));
    assert.deepEqual([...trajectory!.lossMask].map(Boolean), own);
  });
}

test("what the model wrote stays as it wrote it, whatever a template would make of it", async () => {
  const { hermes } = families;
  const written = [
    'I compute.\n<tool_call>{"name":"python","arguments":{"code":"1+1"}}</tool_call>',
    '<tool_call>\n{"name": "python", "arguments": "{\\"code\\": \\"1+1\\"}"}\n</tool_call>',
  ];
  for (const text of written) {
    const tree = await turns(hermes, [text, "2"]);
    assert.equal(tree.nodes[0]!.text, text);
    assert.equal(
      hermes.decode(tree.nodes[1]!.tokens, { skipSpecial: false }),
      "\n<|im_start|>user\n<tool_response>\n2\n</tool_response><|im_end|>\n<|im_start|>assistant\n",
    );
    assert.equal(tree.nodes[1]!.tool!.input, "1+1");
  }
});

test("calls of one turn are made together and answered in the template's words", async () => {
  const { hermes } = families;
  const other = '<tool_call>\n{"name": "search", "arguments": {"input": "x"}}\n</tool_call>';
  const tree = await turns(hermes, [`${canonical.hermes}\n${other}`, "2"]);
  assert.deepEqual(
    tree.nodes.map(({ kind, tool }) => tool?.text ?? kind),
    ["model", "2", "found x", "model"],
  );
  assert.equal(
    hermes.decode(tree.nodes[2]!.tokens, { skipSpecial: false }),
    "\n<|im_start|>user\n<tool_response>\n2\n</tool_response>\n<tool_response>\nfound x\n</tool_response><|im_end|>\n<|im_start|>assistant\n",
  );
  assert.equal(tree.trajectories[0]!.calls, 2);
  const few = await turns(hermes, [`${canonical.hermes}\n${other}`, "2"], { callLimit: 1 });
  assert.equal(few.trajectories[0]!.end, "call-limit");
  await assert.rejects(tree.fork(2, { result: "y" }), /answer the same turn and cannot be edited/);
  await assert.rejects(tree.fork(0), /makes 2 calls that are answered together/);
});

test("calls that cannot be made are answered with what is wrong with them", async () => {
  const { hermes, json, xml } = families;
  const wrap = (text: string) => `<tool_call>\n${text}\n</tool_call>`;
  const answers = async (tokenizer: HfTokenizer, text: string) =>
    (await turns(tokenizer, [text, "ok"])).nodes[1]?.tool?.text;
  assert.match((await answers(hermes, wrap("{1")))!, /must be a JSON object/);
  assert.match((await answers(hermes, wrap('{"arguments": {}}')))!, /must have a name/);
  assert.match(
    (await answers(hermes, wrap('{"name": "rm", "arguments": {}}')))!,
    /there is no tool rm; there are python, search/,
  );
  assert.match((await answers(xml, wrap("python(1)")))!, /must be <function=name>/);
  assert.equal(await answers(json, '{"answer": 2}'), undefined, "JSON without a name is an answer");
  assert.equal(await answers(hermes, "<tool_call> is how one calls"), undefined);
});

test("branches, forks and environments go with the template's calls; the same seed gives the same bytes", async () => {
  class Lamp implements Environment {
    readonly tools = { press: "Presses the lamp." };
    on = false;
    reset() {
      return "The lamp is off.";
    }
    press() {
      this.on = !this.on;
      return this.on ? "on" : "off";
    }
    get done() {
      return this.on;
    }
    reward() {
      return Number(this.on);
    }
  }
  const press = '<tool_call>\n{"name": "press", "arguments": {}}\n</tool_call>';
  const grow = async () => {
    const policy = new ScriptedPolicy(
      ({ turn, options: { random } }) => ({
        text: `${turn === 0 ? canonical.hermes : turn === 1 ? press : "done"}<|im_end|>`,
        confidence: 0.3 + 0.7 * random.uniform(),
      }),
      { tokenizer: families.hermes },
    );
    const options = {
      ...presets.arpo,
      n: 6,
      initialRollouts: 2,
      environment: Lamp,
      tools: [python],
    };
    return rollout(
      policy,
      { prompt: question },
      { ...options, calls: "hermes", seed: 4, callLimit: 6, responseLength: 2000 },
    );
  };
  const tree = await grow();
  assert.match(tree.prompt.text, /"press"/);
  assert.ok(tree.trajectories.some(({ kind }) => kind === "branch"));
  assert.ok(tree.trajectories.every(({ end, outcome }) => end === "done" && outcome?.score === 1));
  assert.equal(
    treesToJsonl([tree], { timing: false }),
    treesToJsonl([await grow()], { timing: false }),
  );
  const answered = tree.nodes.find(({ kind }) => kind === "tool")!;
  const forked = await tree.fork(answered.id, { result: "3", n: 1 });
  assert.match(
    families.hermes.decode(forked.nodes[1]!.tokens, { skipSpecial: false }),
    /<tool_response>\n3\n<\/tool_response>/,
  );
  const again = await tree.fork(0, { n: 1 });
  assert.equal(again.nodes[1]!.tool!.text, "2");
});

test("a template without tools leaves tags; raw prompts are refused", async () => {
  const plain = families.hermes;
  await assert.rejects(
    rollout(
      new ScriptedPolicy(() => ({ text: "x" }), { tokenizer: plain }),
      { prompt: "1+1?", raw: true },
      { calls: "auto", tools: [python] },
    ),
    /a task must not be raw, got raw: true/,
  );
  const tags = new ScriptedPolicy(({ turn }) => ({
    text: turn === 0 ? "<python>1+1</python>" : "\u0001",
  }));
  const tree = await rollout(tags, "1+1?", { calls: "auto", tools: [python] });
  assert.equal(tree.trajectories[0]!.toolCalls[0]!.text, "2");
  assert.equal(tree.config.calls, undefined);
  await assert.rejects(
    rollout(tags, "1+1?", { calls: "yaml" as "auto", tools: [python] }),
    /calls must be/,
  );
});
