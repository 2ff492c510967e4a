import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { HfTokenizer } from "../../model/tokenizer/hf-tokenizer.js";
import { trainBpe } from "../../model/tokenizer/train-bpe.js";
import { Model } from "../../model/transformer/transformer.js";
import { ModelPolicy } from "../../policy/policy-from-model.js";
import { policyAt, reply, serve } from "../../policy/remote/testing/fake-endpoint.js";
import { PolicyServer } from "./policy-server.js";

type Json = Record<string, any>; // eslint-disable-line @typescript-eslint/no-explicit-any -- answers of three interfaces

const turns =
  "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}";
const templates = {
  hermes: `{% if tools %}{{ tools | tojson }}<tool_call></tool_call>{% endif %}${turns}`,
  json: `{% if tools %}{{ tools | tojson }}{% endif %}${turns}`,
  xml: `{% if tools %}{{ tools | tojson }}<tool_call><function={% endif %}${turns}`,
  tags: turns,
};

async function served(t: TestContext, template: keyof typeof templates) {
  const files = trainBpe(['<tool_call>\n{"name": "add", "arguments": {"a": 1}}\n</tool_call>'], {
    vocabSize: 300,
  });
  files.config.chat_template = templates[template];
  const tokenizer = new HfTokenizer(files);
  const { vocabSize } = tokenizer;
  const sizes = { hiddenSize: 16, intermediateSize: 32, layers: 1, heads: 2, kvHeads: 1 };
  const model = Model.init({ ...sizes, vocabSize, contextLength: 2048 }, 7);
  const server = await PolicyServer.start(new ModelPolicy(model, tokenizer, { name: "m" }));
  t.after(() => server.stop());
  return async (
    path: string,
    body: Json,
  ): Promise<{ status: number; json: Json; text: string }> => {
    const response = await fetch(`${server.url}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "m", seed: 3, ...body }),
    });
    const text = await response.text();
    return {
      status: response.status,
      text,
      json: body["stream"] ? {} : (JSON.parse(text) as Json),
    };
  };
}

const messages = [{ role: "user", content: "?" }];
const schema = {
  type: "object",
  properties: {
    unit: { enum: ["C", "F"] },
    degrees: { type: "integer", minimum: -9, maximum: 40 },
  },
  required: ["unit", "degrees"],
  additionalProperties: false,
};
const isWeather = (text: string) => {
  const value = JSON.parse(text) as Json;
  assert.deepEqual(Object.keys(value), ["unit", "degrees"]);
  assert.ok(["C", "F"].includes(value["unit"] as string));
  assert.ok(Number.isInteger(value["degrees"]) && value["degrees"] >= -9 && value["degrees"] <= 40);
};
const refusedSchema = { type: "array", items: {}, uniqueItems: true };
const tool = (name: string, strict: boolean, parameters: object = schema) => ({
  type: "function",
  function: { name, parameters, strict },
});
const refusedTool = { ...schema, properties: { unit: { contains: 3 } } };

test("chat: response_format holds the answer, streamed and not, for every choice", async (t) => {
  const post = await served(t, "hermes");
  const response_format = { type: "json_schema", json_schema: { name: "w", strict: true, schema } };
  const { json } = await post("/chat/completions", { messages, response_format, n: 3 });
  assert.equal(json["choices"].length, 3);
  for (const { message, finish_reason } of json["choices"]) {
    isWeather(message.content);
    assert.equal(finish_reason, "stop");
  }
  const streamed = await post("/chat/completions", { messages, response_format, stream: true });
  const pieces = streamed.text.trim().split("\n\n").slice(0, -1);
  const chunks = pieces.map((piece) => JSON.parse(piece.slice(6)) as Json);
  isWeather(chunks.map(({ choices }) => choices[0].delta.content ?? "").join(""));
  const any = await post("/chat/completions", {
    ...{ messages, max_tokens: 60, response_format: { type: "json_object" } },
  });
  assert.match(any.json["choices"][0].message.content, /^\{/);
});

test("chat: what cannot be held is a 400 that names it", async (t) => {
  const post = await served(t, "hermes");
  const refused = async (body: Json) => {
    const { status, json } = await post("/chat/completions", { messages, ...body });
    assert.equal(status, 400);
    return [json["error"].param, json["error"].code, json["error"].message];
  };
  const json_schema = { name: "x", schema: refusedSchema };
  assert.deepEqual(await refused({ response_format: { type: "json_schema", json_schema } }), [
    ...["response_format", "invalid_json_schema"],
    "Invalid schema for 'response_format': uniqueItems must be left out: it cannot be held here, got true.",
  ]);
  const tools = [tool("one", true), tool("two", true, refusedTool)];
  assert.deepEqual(await refused({ tools }), [
    ...["tools.1", "invalid_json_schema"],
    "Invalid schema of function two for 'tools.1': contains must be left out: it cannot be held here, got 3.",
  ]);
  const open = [...messages, { role: "assistant", content: "{" }];
  const response_format = { type: "json_object" };
  const begun = { messages: open, continue_final_message: true, add_generation_prompt: false };
  assert.equal((await refused({ ...begun, response_format }))[0], "response_format");
});

for (const template of ["hermes", "json"] as const) {
  test(`chat: strict functions and a named one get arguments of their schema (${template})`, async (t) => {
    const post = await served(t, template);
    const tools = [tool("weather", true), tool("free", false)];
    const ask = async (body: Json) => {
      const { json } = await post("/chat/completions", { messages, tools, ...body });
      const [choice] = json["choices"];
      return choice.message.tool_calls.map((call: Json) => call["function"]) as Json[];
    };
    for (let seed = 0; seed < 4; seed++) {
      const tool_choice = { type: "function", function: { name: "weather" } };
      const [named, ...more] = await ask({ tool_choice, seed });
      assert.deepEqual([named!["name"], more], ["weather", []]);
      isWeather(named!["arguments"] as string);
      const [required] = await ask({ tool_choice: "required", seed, tools: [tools[0]] });
      isWeather(required!["arguments"] as string);
    }
    // A function that is not strict and whose schema cannot be held is called as before.
    const loose = [tool("free", false, refusedTool)];
    const tool_choice = { type: "function", function: { name: "free" } };
    const [called] = await ask({ tools: loose, tool_choice, max_tokens: 8 });
    assert.equal(called!["name"], "free");
  });
}

for (const template of ["hermes", "json", "xml", "tags"] as const) {
  test(`chat: a call that is required is made, of a function that there is (${template})`, async (t) => {
    const post = await served(t, template);
    const names = ["weather", "weather_now", "free"];
    const tools = names.map((name) => tool(name, false, name === "free" ? refusedTool : schema));
    const called = new Set<string>();
    for (let seed = 0; seed < 6; seed++) {
      const { json } = await post("/chat/completions", {
        ...{ messages, tools, seed, tool_choice: "required", max_tokens: 60 },
      });
      const [{ message, finish_reason: finish }] = json["choices"];
      assert.equal(message.tool_calls?.length, 1, JSON.stringify(message));
      assert.equal(message.content, null);
      assert.ok(["tool_calls", "length"].includes(finish as string));
      const { name } = message.tool_calls[0].function as { name: string };
      assert.ok(names.includes(name));
      called.add(name);
    }
    assert.ok(called.size > 1);
    // A single function that is not strict and whose schema cannot be held is still called.
    const body = { messages, tools: tools.slice(2), tool_choice: "required", max_tokens: 8 };
    const { json } = await post("/chat/completions", body);
    assert.equal(json["choices"][0].message.tool_calls[0].function.name, "free");
  });
}

test("chat: a required call is refused where the policy's endpoint does not keep to allowed tokens", async (t) => {
  const keeps = { yes: true };
  const { url, bodies } = await serve(t, ({ allowed_token_ids: ids }, response) => {
    const id = keeps.yes && Array.isArray(ids) ? (ids[0] as number) : 122;
    reply(response, { text: String.fromCharCode(id), finish_reason: "length" });
  });
  const server = await PolicyServer.start(policyAt([url], { contextLength: 400 }), { model: "m" });
  t.after(() => server.stop());
  const tools = [tool("first", false), tool("second", false)];
  const ask = async () => {
    const body = { model: "m", messages, tools, tool_choice: "required", max_tokens: 20 };
    const headers = { "content-type": "application/json" };
    const sent = { method: "POST", headers, body: JSON.stringify(body) };
    const response = await fetch(`${server.url}/chat/completions`, sent);
    return { status: response.status, json: (await response.json()) as Json };
  };
  const { status, json } = await ask();
  assert.equal(status, 200, JSON.stringify(json));
  assert.equal(json["choices"][0].message.tool_calls[0].function.name, "first");
  assert.ok(bodies.some(({ allowed_token_ids: ids }) => Array.isArray(ids)));
  keeps.yes = false;
  const refused = await ask();
  assert.equal(refused.status, 400);
  assert.match(refused.json["error"].message as string, /does not keep to allowed token ids/);
  assert.equal(refused.json["error"].param, "tool_choice");
});

test("chat: an answer of a format may call functions; calls by tags are written as before", async (t) => {
  const post = await served(t, "hermes");
  const response_format = { type: "json_schema", json_schema: { schema } };
  const tools = [tool("weather", true)];
  for (let seed = 0; seed < 6; seed++) {
    const { json } = await post("/chat/completions", { messages, tools, response_format, seed });
    const { content, tool_calls: calls } = json["choices"][0].message;
    if (calls) isWeather(calls[0].function.arguments as string);
    else isWeather(content as string);
  }
  const tagged = await served(t, "tags");
  const { status, json } = await tagged("/chat/completions", {
    ...{ messages, tools, max_tokens: 8 },
    tool_choice: { type: "function", function: { name: "weather" } },
  });
  assert.equal(status, 200);
  assert.equal(json["choices"][0].message.tool_calls[0].function.name, "weather");
});

test("Responses and Messages: formats, strict functions, and refusals in their own form", async (t) => {
  const post = await served(t, "hermes");
  const format = { type: "json_schema", name: "w", strict: true, schema };
  const answer = await post("/responses", { input: "?", text: { format } });
  isWeather(answer.json["output"][0].content[0].text);
  const tools = [{ type: "function", name: "weather", strict: true, parameters: schema }];
  const called = await post("/responses", {
    ...{ input: "?", tools, tool_choice: { type: "function", name: "weather" } },
  });
  isWeather(called.json["output"][0].arguments);
  const refused = await post("/responses", {
    ...{ input: "?", text: { format: { ...format, schema: refusedSchema } } },
  });
  assert.equal(refused.status, 400);
  assert.equal(refused.json["error"].param, "text.format");
  assert.match(refused.json["error"].message, /'text.format': uniqueItems must be left out/);

  const asked = { messages, max_tokens: 100, seed: 3 };
  const output_config = { format: { type: "json_schema", schema } };
  const message = await post("/messages", { ...asked, output_config });
  isWeather(message.json["content"][0].text);
  assert.equal(message.json["stop_reason"], "end_turn");
  const own = { tools: [{ name: "weather", strict: true, input_schema: schema }] };
  const used = await post("/messages", {
    ...asked,
    ...own,
    tool_choice: { type: "tool", name: "weather" },
  });
  isWeather(JSON.stringify(used.json["content"][0].input));
  const not = await post("/messages", {
    ...{ ...asked, output_config: { format: { type: "json_schema", schema: refusedSchema } } },
  });
  assert.equal(not.status, 400);
  assert.equal(not.json["error"].type, "invalid_request_error");
  assert.match(not.json["error"].message, /'output_config.format': uniqueItems must be left out/);
  const wrong = await post("/messages", {
    ...{ ...asked, tools: [{ name: "x", strict: true, input_schema: refusedTool }] },
  });
  assert.match(wrong.json["error"].message, /function x for 'tools.0': contains must be/);
});
