// Responses and Messages, captured: requests as the clients of openai, `ai`, openai-agents and anthropic send them.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { CaptureSession } from "../../src/interop/capture/capture-session.js";
import { calc, claudeCalc, type Fields, post, question, script } from "./dialect-requests.js";
import { until } from "../until.js";
import { scriptedCapture } from "./scripted-capture.js";

/** Every call continues the one before it with the tokens that were read and sampled. */
async function isOneTrajectory(
  server: Awaited<ReturnType<typeof scriptedCapture>>["server"],
  session: CaptureSession,
  count: number,
) {
  const { calls, trees } = await server.end(session, 1);
  assert.equal(calls.length, count);
  calls.forEach(({ prompt, parent, rewrite }, i) => {
    assert.deepEqual([parent, rewrite], [i - 1, undefined]);
    if (i === 0) return;
    const read = [...calls[i - 1]!.prompt, ...calls[i - 1]!.tokens];
    assert.deepEqual([...prompt.subarray(0, read.length)], read);
  });
  assert.equal(trees.length, 1);
  assert.equal(trees[0]!.trajectories.length, 1);
  return trees[0]!;
}

const types = (events: readonly Fields[]) =>
  events.map(({ type }) => String(type)).filter((type, i, all) => type !== all[i - 1]);

/** The first answer of Responses: a thought and a call. */
async function firstResponse(t: TestContext, more: Fields = {}) {
  const { server } = await scriptedCapture(t, script);
  const session = server.session();
  const { json } = await post(session, "/responses", {
    ...{ model: "m", input: [question], tools: [calc] },
    ...more,
  });
  const output = json["output"] as Fields[];
  const result = { type: "function_call_output", call_id: output[1]!["call_id"], output: "4" };
  return { server, session, json, output, result };
}

test("Responses: items in the form that clients read, and returned items are tokens as sampled", async (t) => {
  const { server, session, json, output, result } = await firstResponse(t, {
    include: ["reasoning.encrypted_content"],
    store: false,
  });
  assert.deepEqual([json["object"], json["status"]], ["response", "completed"]);
  const [reasoning, called] = output;
  assert.deepEqual(reasoning!["summary"], [{ type: "summary_text", text: "a sum" }]);
  assert.ok(reasoning!["encrypted_content"]);
  assert.deepEqual(
    [called!["type"], called!["name"], called!["arguments"]],
    ["function_call", "calc", '{"sum":"2+2"}'],
  );
  // openai and openai-agents send the items back.
  const input = [question, ...output, result];
  const second = await post(session, "/responses", { model: "m", input, tools: [calc] });
  const [message] = second.json["output"] as Fields[];
  assert.deepEqual(message!["content"], [
    { type: "output_text", text: "four", annotations: [], logprobs: [] },
  ]);
  const third = [...input, message!, { role: "user", content: "sure?" }];
  await post(session, "/responses", { model: "m", input: third, tools: [calc] });
  const tree = await isOneTrajectory(server, session, 3);
  assert.ok(tree.trajectories[0]!.text.endsWith("yes"));
});

test("Responses: previous_response_id and item_reference name answers; two continuations are a branch", async (t) => {
  const { server, session, json, output, result } = await firstResponse(t);
  const follow = { model: "m", previous_response_id: json["id"], input: [result], tools: [calc] };
  const second = await post(session, "/responses", follow);
  assert.equal(second.status, 200);
  // `ai` refers to a thought and a text, and sends a call without its id.
  const { call_id, name, arguments: given } = output[1]!;
  const [message] = second.json["output"] as Fields[];
  const input = [
    { role: "user", content: [{ type: "input_text", text: "2+2?" }] },
    { type: "item_reference", id: output[0]!["id"] },
    { type: "function_call", call_id, name, arguments: given },
    result,
    { type: "item_reference", id: message!["id"] },
    { role: "user", content: [{ type: "input_text", text: "sure?" }] },
  ];
  const third = await post(session, "/responses", { model: "m", input, tools: [calc] });
  assert.equal(third.status, 200);
  await isOneTrajectory(server, session, 3);

  const other = await firstResponse(t);
  const again = { ...follow, previous_response_id: other.json["id"], input: [other.result] };
  for (let i = 0; i < 2; i++) await post(other.session, "/responses", again);
  const { calls, trees } = await other.server.end(other.session, 1);
  assert.deepEqual(
    calls.map(({ parent }) => parent),
    [-1, 0, 0],
  );
  assert.equal(trees[0]!.trajectories.length, 2);
});

test("Responses: a thought that does not come back is a change of what was said", async (t) => {
  const { server, session, output, result } = await firstResponse(t);
  const input = [question, output[1], result];
  await post(session, "/responses", { model: "m", input, tools: [calc] });
  const { calls } = await server.end(session, 1);
  assert.equal(calls[1]!.rewrite!.of, 0);
  assert.match(calls[1]!.rewrite!.recorded, /^<?think>/);
});

test("Responses: a stream has every event that clients need, in order and numbered without a gap", async (t) => {
  const { server, session } = await firstResponse(t);
  const body = { model: "m", stream: true, input: "2+2?", tools: [calc] };
  const { events } = await post(session, "/responses", body);
  assert.deepEqual(types(events), [
    "response.created",
    "response.in_progress",
    "response.output_item.added",
    "response.reasoning_summary_part.added",
    "response.reasoning_summary_text.delta",
    "response.reasoning_summary_text.done",
    "response.reasoning_summary_part.done",
    "response.output_item.done",
    "response.output_item.added",
    "response.function_call_arguments.delta",
    "response.function_call_arguments.done",
    "response.output_item.done",
    "response.completed",
  ]);
  events.forEach(({ sequence_number }, i) => assert.equal(sequence_number, i));
  const whole = events.at(-1)!["response"] as Fields;
  const [, called] = whole["output"] as Fields[];
  const follow = [{ type: "function_call_output", call_id: called!["call_id"], output: "4" }];
  const text = await post(session, "/responses", {
    ...{ ...body, input: follow },
    previous_response_id: whole["id"],
  });
  assert.deepEqual(types(text.events), [
    "response.created",
    "response.in_progress",
    "response.output_item.added",
    "response.content_part.added",
    "response.output_text.delta",
    "response.output_text.done",
    "response.content_part.done",
    "response.output_item.done",
    "response.completed",
  ]);
  const said = text.events.flatMap(({ type, delta }) =>
    type === "response.output_text.delta" ? [delta] : [],
  );
  assert.equal(said.join(""), "four");
  await server.end(session, 1);
});

/** The first answer of Messages: a thought and a call. */
async function firstMessage(t: TestContext, more: Fields = {}) {
  const { server } = await scriptedCapture(t, script);
  const session = server.session();
  const body = { model: "m", max_tokens: 64_000, tools: [claudeCalc], messages: [question] };
  const { json } = await post(session, "/messages", { ...body, ...more });
  const content = json["content"] as Fields[];
  const result = { type: "tool_result", tool_use_id: content[1]!["id"], content: "4" };
  return { server, session, body, json, content, result };
}

test("Messages: blocks in the form that clients read, and returned blocks are tokens as sampled", async (t) => {
  const { server, session, body, json, content, result } = await firstMessage(t);
  assert.deepEqual(
    [json["type"], json["role"], json["stop_reason"], json["stop_sequence"]],
    ["message", "assistant", "tool_use", null],
  );
  assert.equal(content[0]!["thinking"], "a sum");
  assert.deepEqual([content[1]!["name"], content[1]!["input"]], ["calc", { sum: "2+2" }]);
  const messages = [question, { role: "assistant", content }, { role: "user", content: [result] }];
  const second = await post(session, "/messages", { ...body, messages });
  assert.deepEqual(second.json["content"], [{ type: "text", text: "four" }]);
  assert.equal(second.json["stop_reason"], "end_turn");
  const third = [
    ...messages,
    { role: "assistant", content: "four" },
    { role: "user", content: [{ type: "text", text: "sure?" }] },
  ];
  const { json: last } = await post(session, "/messages", { ...body, messages: third });
  assert.deepEqual(last["content"], [{ type: "text", text: "yes" }]);
  await isOneTrajectory(server, session, 3);
});

test("Messages: a thread sends what is new alone; one that is gone is refused so that clients send all", async (t) => {
  const { server, session, json, result } = await firstMessage(t, { thread: { type: "create" } });
  const next = (id: unknown) => ({
    ...{ model: "m", max_tokens: 100, messages: [{ role: "user", content: [result] }] },
    thread: { type: "continue", previous_message_id: id },
  });
  const gone = await post(session, "/messages", next("msg_none"));
  assert.equal(gone.status, 404);
  assert.deepEqual((gone.json["error"] as Fields)["details"], { error_code: "thread_not_found" });
  const other = await post(session, "/messages", { ...next("x"), thread: { type: "merge" } });
  assert.equal(other.status, 400);
  assert.deepEqual((other.json["error"] as Fields)["details"], {
    error_code: "thread_unsupported_request",
    unsupported: ["thread"],
  });
  const second = await post(session, "/messages", next(json["id"]));
  assert.deepEqual(second.json["content"], [{ type: "text", text: "four" }]);
  await isOneTrajectory(server, session, 2);
});

test("Messages: a stream has every event that clients need", async (t) => {
  const { server, session, body, content, result } = await firstMessage(t);
  const { events } = await post(session, "/messages", { ...body, stream: true });
  assert.deepEqual(types(events), [
    "message_start",
    "content_block_start",
    "content_block_delta",
    "content_block_stop",
    "content_block_start",
    "content_block_delta",
    "content_block_stop",
    "message_delta",
    "message_stop",
  ]);
  const deltas = events.flatMap(({ delta }) => (delta ? [delta as Fields] : []));
  assert.ok(deltas.some(({ type }) => type === "signature_delta"));
  const parts = deltas.flatMap(({ partial_json }) => partial_json ?? []);
  assert.deepEqual(JSON.parse(parts.join("")), { sum: "2+2" });
  const messages = [question, { role: "assistant", content }, { role: "user", content: [result] }];
  const text = await post(session, "/messages", { ...body, messages, stream: true });
  const said = text.events.flatMap(({ delta }) => (delta as Fields | undefined)?.["text"] ?? []);
  assert.equal(said.join(""), "four");
  assert.equal((text.events.at(-2)!["delta"] as Fields)["stop_reason"], "end_turn");
  await server.end(session, 1);
});

test("count_tokens and input_tokens count a prompt, which is no call", async (t) => {
  const { server } = await scriptedCapture(t, script);
  const session = server.session();
  const counted = await post(session, "/messages/count_tokens", {
    model: "m",
    messages: [question],
  });
  // <u>, four bytes, <e>, <a>
  assert.deepEqual(counted.json, { input_tokens: 7 });
  const { json } = await post(session, "/responses/input_tokens", { input: "2+2?" });
  assert.deepEqual(json, { object: "response.input_tokens", input_tokens: 7 });
  assert.equal((await server.end(session, 1)).calls.length, 0);
});

test("bad input gets an error of the peer's own form, and nothing that was recorded is lost", async (t) => {
  const { server, session, json, result } = await firstResponse(t);
  const other = server.session();
  const item = (more: object) => ({ model: "m", input: [more] });
  const deep = `${"[".repeat(3000)}${"]".repeat(3000)}`;
  const bad: [body: object | string, status: number, param: unknown, code: unknown][] = [
    [
      { model: "m", input: "x", previous_response_id: "resp_no" },
      404,
      "previous_response_id",
      "previous_response_not_found",
    ],
    [item({ type: "item_reference", id: "rs_no" }), 404, "input[0]", "item_not_found"],
    [
      item({ type: "function_call_output", call_id: "call_no", output: "4" }),
      400,
      "input[0]",
      "invalid_value",
    ],
    [item({ type: "image_generation_call" }), 400, "input[0].type", "invalid_value"],
    [
      item({ role: "user", content: [{ type: "input_image" }] }),
      400,
      "input[0].content[0].type",
      "invalid_value",
    ],
    [
      {
        model: "m",
        input: Array(400_000)
          .fill(question.role)
          .map(() => ({})),
      },
      400,
      "input",
      "context_length_exceeded",
    ],
    [{ model: "m", input: "x", background: true }, 400, "background", "invalid_value"],
    [
      { model: "m", input: "x", tools: [{ type: "web_search" }] },
      400,
      "tools.0.type",
      "invalid_value",
    ],
    [
      {
        model: "m",
        input: "x",
        text: { format: { type: "json_schema", name: "s", schema: { uniqueItems: true } } },
      },
      400,
      "text.format",
      "invalid_json_schema",
    ],
    [{ model: "m" }, 400, "input", "missing_required_parameter"],
    [`{"model":"m","input":${deep}}`, 400, null, "invalid_json"],
  ];
  for (const [body, status, param, code] of bad) {
    const answer = await post(session, "/responses", body);
    const error = answer.json["error"] as Fields;
    const seen = [answer.status, error["param"], error["code"]];
    assert.deepEqual(seen, [status, param, code], JSON.stringify(body).slice(0, 80));
  }
  // Another program does not know the ids of this one.
  const foreign = { model: "m", previous_response_id: json["id"], input: [result] };
  assert.equal((await post(other, "/responses", foreign)).status, 404);
  const claude: [object, number, string, RegExp][] = [
    [{ model: "m", messages: [question] }, 400, "invalid_request_error", /max_tokens/],
    [
      { max_tokens: 1, model: "m", messages: [{ role: "user", content: [{ type: "image" }] }] },
      400,
      "invalid_request_error",
      /messages\.0\.content/,
    ],
    [
      {
        max_tokens: 1,
        model: "m",
        messages: [{ role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_no" }] }],
      },
      400,
      "invalid_request_error",
      /toolu_no/,
    ],
    [
      {
        max_tokens: 1,
        model: "m",
        messages: [question],
        tools: [{ type: "bash_20250124", name: "bash" }],
      },
      400,
      "invalid_request_error",
      /tools\.0/,
    ],
  ];
  for (const [body, status, type, words] of claude) {
    const answer = await post(session, "/messages", body);
    const error = answer.json["error"] as Fields;
    assert.deepEqual([answer.status, answer.json["type"], error["type"]], [status, "error", type]);
    assert.match(String(error["message"]), words);
  }
  const bytes = await fetch(`${session.env["ANTHROPIC_BASE_URL"]!}/v1/messages`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": session.key },
    body: Buffer.from([0x7b, 0x22, 0xff, 0x22]),
  });
  assert.equal(bytes.status, 400);
  assert.equal(((await bytes.json()) as Fields)["type"], "error");
  const noKey = await post({ ...session, env: session.env, key: "sk-no" }, "/messages", {});
  assert.equal((noKey.json["error"] as Fields)["type"], "authentication_error");
  const { calls, trees } = await server.end(session, 1);
  assert.deepEqual([calls.length, trees.length], [1, 1]);
  const ended = await post(session, "/responses", { model: "m", input: "x" });
  assert.equal((ended.json["error"] as Fields)["code"], "session_ended");
});

test("a stream that its client leaves is cut, and the conversation goes on from what was answered", async (t) => {
  const { server } = await scriptedCapture(t, script, { delayMs: 20 });
  const session = server.session();
  const gone = new AbortController();
  const response = await fetch(`${session.env["OPENAI_BASE_URL"]!}/messages`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": session.key },
    body: JSON.stringify({ model: "m", max_tokens: 99, stream: true, messages: [question] }),
    signal: gone.signal,
  });
  const stream = response.body!.getReader();
  for (let said = ""; !said.includes("content_block_delta");) {
    said += Buffer.from((await stream.read()).value!).toString();
  }
  gone.abort();
  await until(() => !session.busy, "the call that was left is cut");
  const body = { model: "m", max_tokens: 99, messages: [question], tools: [claudeCalc] };
  const { json } = await post(session, "/messages", body, { "x-stainless-retry-count": "1" });
  assert.equal(json["stop_reason"], "tool_use");
  const { calls, trees } = await server.end(session, 1);
  assert.deepEqual(
    calls.map(({ cut }) => cut !== undefined),
    [true, false],
  );
  assert.equal(calls[0]!.retriedBy, 1);
  assert.equal(trees[0]!.trajectories.length, 1);
});

test("five samples of one prompt are five trajectories, by either interface", async (t) => {
  const { server } = await scriptedCapture(t, { "<u>hi<e><a>": ["one<e>", "two<e>"] });
  for (const [path, body] of [
    ["/responses", { model: "m", input: "hi" }],
    ["/messages", { model: "m", max_tokens: 9, messages: [{ role: "user", content: "hi" }] }],
  ] as const) {
    const session = server.session();
    const headers = { "x-stainless-retry-count": "0" };
    for (let i = 0; i < 5; i++) await post(session, path, body, headers);
    const { trees } = await server.end(session, 1);
    assert.equal(trees[0]!.trajectories.length, 5);
  }
});
