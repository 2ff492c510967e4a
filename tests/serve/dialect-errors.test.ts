// What clients of each dialect read in errors and in the ends of answers, asked of the tiny model.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { serveTiny } from "./tiny-server.js";

type Fields = Record<string, unknown>;

async function served(t: TestContext) {
  const { server } = await serveTiny(t);
  return async (path: string, body: object) => {
    const response = await fetch(server.url + path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "tiny", ...body }),
    });
    const text = await response.text();
    const events = text.split("\n\n").flatMap((event) => {
      const data = /^data: (.*)$/m.exec(event)?.[1];
      return data === undefined ? [] : [JSON.parse(data) as Fields];
    });
    const json = (events.length > 0 ? {} : JSON.parse(text)) as Fields;
    return { status: response.status, json, events };
  };
}

const question = { role: "user", content: "1+1?" };
const parameters = { type: "object", properties: { code: { type: "string" } }, required: ["code"] };
const python = { type: "function", name: "python", parameters };
const claudePython = { name: "python", input_schema: parameters };
const odd = { toString: 1, constructor: { name: { toString: 1 } } };

test("an error names the innermost field, as the client wrote it", async (t) => {
  const post = await served(t);
  const responses: [object, string][] = [
    [{ input: [5] }, "input.0"],
    [
      { input: [{ role: "user", content: [{ type: odd, text: "x" }] }] },
      "input[0].content[0].type",
    ],
    [{ input: "x", tools: [{ ...python, name: "a b" }] }, "tools.0.name"],
    [{ input: "x", tools: [python], tool_choice: { type: "function" } }, "tool_choice.name"],
    [{ input: "x", tools: [python], tool_choice: { type: "web_search" } }, "tool_choice.type"],
  ];
  for (const [body, param] of responses) {
    const { status, json } = await post("/responses", body);
    const error = json["error"] as Fields;
    assert.deepEqual([status, error["param"]], [400, param], JSON.stringify(error));
  }
  const said = (content: unknown) => ({ messages: [{ role: "user", content }] });
  const result = { type: "tool_result", tool_use_id: "t", content: [{ type: "image" }] };
  const messages: [object, RegExp][] = [
    [said([{ type: "text", text: 5 }]), /'messages\.0\.content\.0\.text'/],
    [said([{ type: "image" }]), /'messages\.0\.content\.0\.type': only blocks of type text/],
    [said([result]), /'messages\.0\.content\.0\.content\.0\.type'/],
    [said(5), /'messages\.0\.content'/],
    [{ messages: [question], tools: [{ ...claudePython, name: "" }] }, /'tools\.0\.name'/],
    [
      { messages: [question], tools: [claudePython], tool_choice: { type: "tool" } },
      /'tool_choice\.name'/,
    ],
  ];
  for (const [body, words] of messages) {
    const { status, json } = await post("/messages", { max_tokens: 9, ...body });
    assert.equal(status, 400);
    assert.match((json["error"] as Fields)["message"] as string, words);
  }
  const chat = await post("/chat/completions", { messages: [{ role: "user", content: [5] }] });
  assert.equal((chat.json["error"] as Fields)["param"], "messages.0.content.0");
  // A path below a dialect's own is told in its form.
  assert.equal((await post("/messages/batches", {})).json["type"], "error");
});

test("arguments that are lists or objects are text of a call by tag as JSON", async (t) => {
  const post = await served(t);
  const input = (code: unknown) => [
    question,
    {
      role: "assistant",
      content: [{ type: "tool_use", id: "t", name: "python", input: { code } }],
    },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "t", content: "2" }] },
  ];
  const counted = async (code: unknown) => {
    const body = { messages: input(code), tools: [claudePython] };
    const { status, json } = await post("/messages/count_tokens", body);
    assert.equal(status, 200, JSON.stringify(json));
    return json["input_tokens"] as number;
  };
  assert.equal(await counted(odd), await counted(JSON.stringify({ code: odd })));
  assert.equal(await counted({ a: 1 }), await counted('{"code":{"a":1}}'));
});

test("a strict schema that cannot be held is refused where calls are no JSON, too", async (t) => {
  const post = await served(t);
  const wrong = { ...parameters, properties: { code: { type: "array", uniqueItems: true } } };
  const strict = { ...claudePython, input_schema: wrong, strict: true };
  const body = { max_tokens: 4, messages: [question] };
  const refused = await post("/messages", { ...body, tools: [strict] });
  assert.equal(refused.status, 400);
  assert.match((refused.json["error"] as Fields)["message"] as string, /tools\.0.*uniqueItems/);
  const loose = { ...body, tools: [{ ...strict, strict: false }] };
  assert.equal((await post("/messages", loose)).status, 200);
});

test("Responses: an answer that was cut ends with an incomplete item; tokens of thoughts are counted", async (t) => {
  const post = await served(t);
  const input = "What is 12 + 34 - 5?";
  const more = { temperature: 0, tools: [python] };
  const details = ({ usage }: Fields) =>
    (usage as { output_tokens_details: Fields }).output_tokens_details[
      "reasoning_tokens"
    ] as number;
  const { json: whole } = await post("/responses", { input, ...more });
  assert.ok(details(whole) > 5, String(details(whole)));
  assert.ok(details(whole) < (whole["usage"] as { output_tokens: number }).output_tokens);
  const { json: cut } = await post("/responses", { input, ...more, max_output_tokens: 5 });
  assert.equal(details(cut), 5);
  const choice = { type: "function", name: "python" };
  const { events } = await post("/responses", {
    ...{ input, ...more, tool_choice: choice, max_output_tokens: 3, stream: true },
  });
  const done = events.find(({ type }) => type === "response.output_item.done")!;
  const last = events.at(-1)!;
  assert.equal(last["type"], "response.incomplete");
  assert.equal((done["item"] as Fields)["status"], "incomplete");
  assert.deepEqual((last["response"] as { output: unknown[] }).output, [done["item"]]);
});

test("Responses: an item of nothing but an id is a reference", async (t) => {
  const post = await served(t);
  const body = { temperature: 0, tools: [python] };
  const { json } = await post("/responses", { ...body, input: [question] });
  const output = json["output"] as { id: string }[];
  const named = (type: object) => output.map(({ id }) => ({ ...type, id }));
  const count = async (items: object[]) => {
    const asked = { ...body, input: [question, ...items, question] };
    return (await post("/responses/input_tokens", asked)).json["input_tokens"];
  };
  assert.ok((await count([])) !== undefined);
  assert.equal(await count(named({})), await count(named({ type: "item_reference" })));
});
