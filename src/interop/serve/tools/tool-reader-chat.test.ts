import assert from "node:assert/strict";
import { test } from "node:test";
import { chatBody, type RequestTool } from "../schema/common.js";
import { ChatTemplate } from "../../../model/tokenizer/chat-template.js";
import type { ChatOptions, Tokenizer } from "../../../model/tokenizer/tokenizer.js";
import { ByteTokenizer } from "../../../../tests/policy/byte-tokenizer.js";
import { chatPrompt } from "./chat-prompt.js";
import { type CallDialectName, callDialects } from "../../../tools/calls/dialects/registry.js";
import { toolFormat } from "./tool-format.js";
import { ToolReader } from "./tool-reader.js";

const tool = (name: string, parameters: Record<string, unknown>): RequestTool => ({
  type: "function",
  function: { name, parameters },
});
const tools = [
  tool("search", { type: "object", properties: { query: {} }, required: ["query"] }),
  tool("python", {
    type: "object",
    properties: { code: {}, seed: { type: "integer" } },
    required: ["code"],
  }),
];

/** Everything a reader says of a text that comes in pieces of so many characters. */
function read(name: CallDialectName, text: string, size: number, prefix = "") {
  const reader = new ToolReader(toolFormat(callDialects.get(name)!, tools, false), prefix);
  let said = "";
  for (let i = 0; i < text.length; i += size) said += reader.push(text.slice(i, i + size));
  const { content, calls } = reader.end();
  return { said, content, calls: calls.map((call) => [call.name, call.arguments]) };
}

const hermes =
  'I look. <tool_call>\n{"name": "search", "arguments": {"query": "a<b"}}\n</tool_call>\n<tool_call>\n{"name": "python", "arguments": {"code": "1"}}\n</tool_call>';

test("ToolReader parts what is said from what is called, in pieces of any size", () => {
  for (const size of [1, 2, 3, 7, 1000]) {
    assert.deepEqual(read("hermes", hermes, size), {
      said: "I look. ",
      content: "",
      calls: [
        ["search", '{"query":"a<b"}'],
        ["python", '{"code":"1"}'],
      ],
    });
    assert.deepEqual(read("tags", "<think>x</think><search> who? </search>", size), {
      said: "<think>x</think>",
      content: "",
      calls: [["search", '{"query":"who?"}']],
    });
    const xml = (name: string, body: string) =>
      `<tool_call>\n<function=${name}>\n${body}\n</function>\n</tool_call>`;
    const parameter = (name: string, value: string) =>
      `<parameter=${name}>\n${value}\n</parameter>`;
    const python = xml("python", `${parameter("code", "1")}\n${parameter("seed", "7")}`);
    const both = `I look. ${xml("search", parameter("query", "a<b"))}\n${python}`;
    assert.deepEqual(read("xml", both, size), {
      said: "I look. ",
      content: "",
      calls: [
        ["search", '{"query":"a<b"}'],
        ["python", '{"code":"1","seed":7}'],
      ],
    });
    const json = ' {"name": "python", "parameters": {"code": "2"}}';
    assert.deepEqual(read("json", json, size), {
      said: "",
      content: "",
      calls: [["python", '{"code":"2"}']],
    });
  }
});

test("ToolReader gives as text what is no call of a known function", () => {
  const cases: [CallDialectName, string][] = [
    ["hermes", 'a <tool_call>\n{"name": "other", "arguments": {}}\n</tool_call>'],
    ["hermes", "a <tool_call>\nnot JSON\n</tool_call> b"],
    ["hermes", 'a <tool_call>\n{"name": "search", "argum'],
    ["xml", "a <tool_call>\n<function=other>\n</function>\n</tool_call>"],
    ["xml", "a <tool_call>\nsearch(1)\n</tool_call> b"],
    ["json", '{"name": "search"'],
    ["json", "{} and more"],
    ["tags", "a <search>never closed"],
    ["tags", "a < b <sear"],
  ];
  for (const [name, text] of cases) {
    const { said, content, calls } = read(name, text, 2);
    assert.deepEqual([said + content, calls], [text, []]);
  }
});

test("ToolReader takes a forced call's beginning for part of it", () => {
  for (const [name, rest] of [
    ["hermes", '{"query": "x"}}\n</tool_call>'],
    ["json", '{"query": "x"}}'],
    ["tags", "x</search>"],
  ] as const) {
    const prefix = toolFormat(callDialects.get(name)!, tools, true).prefix("search");
    const { said, calls } = read(name, rest, 3, prefix);
    assert.deepEqual([said, calls.map(([called]) => called)], ["", ["search"]]);
    assert.equal((JSON.parse(calls[0]![1]!) as { query: string }).query, "x");
  }
});

test("ToolReader gives a forced call whatever the model made of it", () => {
  for (const [name, rest, args] of [
    ["hermes", '{"query": "x', '{"query": "x'],
    ["hermes", '{"query" "x"}}\n</tool_call>', '{"query" "x"}'],
    ["json", '{"query": x}}', '{"query": x}'],
    ["xml", "<parameter=query>\nx", '{"query":"x"}'],
    ["tags", "x<think>", '{"query":"x<think>"}'],
  ] as const) {
    const format = toolFormat(callDialects.get(name)!, tools, true);
    const reader = new ToolReader(format, format.prefix("search"), "search");
    assert.equal(reader.push(rest), "");
    assert.deepEqual(reader.end(), { content: "", calls: [{ name: "search", arguments: args }] });
  }
});

test("a function that the client names is called, whatever the model calls behind it", () => {
  const other = "<tool_call>\n" + '{"name": "python", "arguments": {"code": "1"}}\n</tool_call>';
  const format = toolFormat(callDialects.get("hermes")!, tools, false);
  const both = new ToolReader(format, format.prefix("search"), "search");
  both.push(`{"query": "x"}}\n</tool_call>\n${other}`);
  assert.deepEqual(both.end().calls, [{ name: "search", arguments: '{"query":"x"}' }]);
  const written = toolFormat(callDialects.get("tags")!, tools, true);
  const open = new ToolReader(written, written.prefix("search"), "search");
  open.push("x <python>1</python>");
  assert.deepEqual(
    open.end().calls.map(({ name }) => name),
    ["search"],
  );
});

/** A tokenizer with a chat template. */
function withTemplate(source: string): Tokenizer {
  const template = new ChatTemplate(source);
  return Object.assign(new ByteTokenizer(), {
    chat: (messages: Parameters<Tokenizer["chat"]>[0], options?: ChatOptions) =>
      template.render(messages, options),
  });
}
const messages = `{% for m in messages %}[{{ m.role }}]{{ m.content }}{% for c in m.tool_calls or [] %}<tool_call>{{ c.function.name }} {{ c.function.arguments | tojson }}</tool_call>{% endfor %}{% endfor %}{% if add_generation_prompt %}[assistant]{% endif %}`;
const qwen = withTemplate(
  `{% if tools %}{{ tools | tojson }} in <tool_call></tool_call>{% endif %}${messages}`,
);
const coder = withTemplate(
  `{% if tools %}{{ tools | tojson }} in <tool_call><function=name></function></tool_call>{% endif %}${messages}`,
);
const plain = withTemplate(messages);
const ask = (body: object) =>
  chatBody.parse({ model: "m", messages: [{ role: "user", content: "q" }], ...body });

const conversation = [
  { role: "user", content: [{ type: "text", text: "q" }] },
  {
    role: "assistant",
    content: null,
    tool_calls: [{ id: "1", function: { name: "search", arguments: '{"query": "x"}' } }],
  },
  { role: "tool", tool_call_id: "1", content: "found" },
];

test("chatPrompt() shows tools to a template that knows them", async () => {
  const { text, format } = await chatPrompt(qwen, ask({ tools }));
  assert.match(
    text,
    /^\[\{"type": "function".*in <tool_call><\/tool_call>\[user\]q\[assistant\]$/s,
  );
  assert.equal(format!.name, "hermes");
  assert.equal((await chatPrompt(coder, ask({ tools }))).format!.name, "xml");
  const later = (await chatPrompt(qwen, ask({ tools, messages: conversation }))).text;
  assert.ok(
    later.endsWith(
      '[user]q[assistant]<tool_call>search {"query": "x"}</tool_call>[tool]found[assistant]',
    ),
    later,
  );
  assert.equal(
    (await chatPrompt(qwen, ask({ tools, tool_choice: "none" }))).text,
    "[user]q[assistant]",
  );
});

test("chatPrompt() writes tags for a template that knows no tools", async () => {
  const { text, format } = await chatPrompt(plain, ask({ tools }));
  assert.deepEqual([text, format!.name], ["[user]q[assistant]", "tags"]);
  assert.deepEqual(format!.stops, ["</search>", "</python>"]);
  assert.equal(
    (await chatPrompt(plain, ask({ tools, messages: conversation }))).text,
    "[user]q[assistant]<search>x</search> <result>\nfound\n</result>",
  );
  const answered = [...conversation, { role: "assistant", content: "It is x." }];
  const asked = [...answered, { role: "user", content: "sure?" }];
  assert.equal(
    (await chatPrompt(plain, ask({ tools, messages: asked }))).text,
    "[user]q[assistant]<search>x</search> <result>\nfound\n</result>It is x.[user]sure?[assistant]",
  );
});

test("chatPrompt() begins the call that is asked for", async () => {
  const named = { type: "function", function: { name: "python" } };
  assert.match(
    (await chatPrompt(qwen, ask({ tools, tool_choice: named }))).text,
    /\[assistant\]<tool_call>\n\{"name": "python", "arguments": $/,
  );
  assert.match(
    (await chatPrompt(qwen, ask({ tools, tool_choice: "required" }))).text,
    /\[assistant\]<tool_call>\n\{"name": "$/,
  );
  const xml = await chatPrompt(coder, ask({ tools, tool_choice: named }));
  assert.match(xml.text, /\[assistant\]<tool_call>\n<function=python>\n$/);
  assert.match((await chatPrompt(plain, ask({ tools, tool_choice: named }))).text, /\]<python>$/);
  const refused = (body: object) => async () => await chatPrompt(plain, ask(body));
  const any = await chatPrompt(plain, ask({ tools, tool_choice: "required" }));
  assert.deepEqual([any.text, any.beginnings], ["[user]q[assistant]", ["<search>", "<python>"]]);
  const one = await chatPrompt(plain, ask({ tools: tools.slice(1), tool_choice: "required" }));
  assert.deepEqual([one.text, one.forced], ["[user]q[assistant]<python>", "python"]);
  await assert.rejects(refused({ tool_choice: "required" }), /needs 'tools'/);
  await assert.rejects(
    refused({ tools, tool_choice: { type: "function", function: { name: "other" } } }),
    /must name one of the tools, got other/,
  );
});

test("chatPrompt() goes on with an unfinished message", async () => {
  const open = [
    { role: "user", content: "q" },
    { role: "assistant", content: "It is" },
  ];
  const body = { messages: open, continue_final_message: true, add_generation_prompt: false };
  assert.equal((await chatPrompt(plain, ask(body))).text, "[user]q[assistant]It is");
  await assert.rejects(
    chatPrompt(plain, ask({ continue_final_message: true })),
    /needs an assistant's message/,
  );
});
