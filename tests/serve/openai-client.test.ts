// The `openai` client from npm, as anyone would use it, against our server.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import OpenAI from "openai";
import { tasks } from "../../src/tasks/tasks/index.js";
import { Random } from "../../src/base/random/random.js";
import { calculate } from "../../src/tools/calculator/arithmetic.js";
import { until } from "../until.js";
import { serveTiny } from "./tiny-server.js";

async function connect(t: TestContext) {
  const { policy, server } = await serveTiny(t);
  const client = new OpenAI({ baseURL: server.url, apiKey: "none", maxRetries: 0 });
  return { policy, client, server };
}
const model = "tiny";
const [task] = tasks.calc({ seed: 7, train: 1, test: 1 }).train;
const messages = task!.prompt as { role: "user"; content: string }[];
const python: OpenAI.ChatCompletionFunctionTool = {
  type: "function",
  function: {
    name: "python",
    description: "Runs Python.",
    parameters: { type: "object", properties: { code: { type: "string" } }, required: ["code"] },
  },
};

test("openai lists the model", async (t) => {
  const { client } = await connect(t);
  const found = [];
  for await (const { id } of client.models.list()) found.push(id);
  assert.deepEqual(found, [model]);
  assert.equal((await client.models.retrieve(model)).owned_by, "arpo-lab");
  await assert.rejects(client.models.retrieve("gpt"), OpenAI.NotFoundError);
});

test("openai completes, whole and streamed, the same for a seed", async (t) => {
  const { client, policy } = await connect(t);
  const prompt = policy.tokenizer.chat(messages, { addGenerationPrompt: true });
  const body = { model, prompt, max_tokens: 40, seed: 11, n: 3, logprobs: 3 };
  const whole = await client.completions.create(body);
  assert.deepEqual(
    whole.choices.map(({ index }) => index),
    [0, 1, 2],
  );
  assert.ok(new Set(whole.choices.map(({ text }) => text)).size > 1);
  const streamed = ["", "", ""];
  const tokens: string[][] = [[], [], []];
  let usage: OpenAI.CompletionUsage | null | undefined;
  const stream = await client.completions.create({
    ...body,
    stream: true,
    stream_options: { include_usage: true },
  });
  for await (const chunk of stream) {
    usage = chunk.usage ?? usage;
    for (const { index, text, logprobs } of chunk.choices) {
      streamed[index] += text;
      tokens[index]!.push(...(logprobs?.tokens ?? []));
    }
  }
  assert.deepEqual(
    streamed,
    whole.choices.map(({ text }) => text),
  );
  assert.deepEqual(
    tokens,
    whole.choices.map(({ logprobs }) => logprobs!.tokens),
  );
  assert.deepEqual(usage, whole.usage);
  // Choice i is what seed + i gives alone, and what a local policy gives for it.
  const alone = await client.completions.create({ ...body, n: 1, seed: 12 });
  assert.equal(alone.choices[0]!.text, whole.choices[1]!.text);
  const session = policy.session();
  const row = session.open(policy.tokenizer.encode(prompt));
  const segment = await session.generate(row, { maxTokens: 40, random: Random.from(12) });
  assert.equal(
    policy.tokenizer.decode(segment.tokens, { skipSpecial: true }),
    alone.choices[0]!.text,
  );
  alone.choices[0]!.logprobs!.token_logprobs!.forEach((logprob, i) => {
    assert.ok(Math.abs(logprob - segment.logprobs[i]!) < 1e-4);
  });
});

test("openai echoes a prompt with the log-probs the model gives it", async (t) => {
  const { client, policy } = await connect(t);
  const { choices } = await client.completions.create({
    ...{ model, prompt: "What is 12", max_tokens: 0, echo: true, logprobs: 2 },
  });
  const { text, logprobs } = choices[0]!;
  assert.equal(text, "What is 12");
  assert.deepEqual(logprobs!.text_offset, [0, 4, 7, 8]);
  const [first, ...others] = logprobs!.token_logprobs as (number | null)[];
  assert.equal(first, null);
  // The decoder says the same when it is made to write those tokens.
  const ids = policy.tokenizer.encode("What is 12");
  const session = policy.session();
  for (const [i, logprob] of others.entries()) {
    const row = session.open(ids.slice(0, i + 1));
    const options = { maxTokens: 1, random: Random.from(1), allowedIds: [ids[i + 1]!] };
    const segment = await session.generate(row, options);
    assert.ok(Math.abs(segment.logprobs[0]! - logprob!) < 1e-3);
  }
});

test("openai chats: log-probs, stop strings, a stream with its helper", async (t) => {
  const { client } = await connect(t);
  const body = { model, messages, temperature: 0, max_completion_tokens: 50 };
  const whole = await client.chat.completions.create({
    ...{ ...body, logprobs: true, top_logprobs: 4, stop: "</think>" },
  });
  const [choice] = whole.choices;
  const { content } = choice!.logprobs!;
  assert.equal(choice!.finish_reason, "stop");
  assert.match(choice!.message.content!, /^<think>I compute [^<]+\.$/);
  assert.equal(content!.map(({ token }) => token).join(""), choice!.message.content);
  for (const { token, logprob, top_logprobs, bytes } of content!) {
    assert.equal(top_logprobs.length, 4);
    assert.deepEqual([top_logprobs[0]!.token, top_logprobs[0]!.logprob], [token, logprob]); // greedy
    assert.equal(Buffer.from(bytes!).toString(), token);
  }
  const runner = client.chat.completions.stream({ ...body, stop: "</think>" });
  const pieces: string[] = [];
  runner.on("content", (delta) => pieces.push(delta));
  const final = await runner.finalChatCompletion();
  assert.equal(final.choices[0]!.message.content, choice!.message.content);
  assert.ok(pieces.length > 5 && pieces.join("") === choice!.message.content);
});

test("openai drives the model through its tool to the answer", async (t) => {
  const { client } = await connect(t);
  const history: OpenAI.ChatCompletionMessageParam[] = [...messages];
  const body = { model, messages: history, temperature: 0, tools: [python] };
  const first = await client.chat.completions.create(body);
  const { message, finish_reason } = first.choices[0]!;
  assert.equal(finish_reason, "tool_calls");
  const [call] = message.tool_calls!;
  assert.ok(call?.type === "function" && call.function.name === "python");
  const { code } = JSON.parse(call.function.arguments) as { code: string };
  // The stream gives the same call.
  const streamed = await client.chat.completions.stream(body).finalChatCompletion();
  const [again] = streamed.choices[0]!.message.tool_calls!;
  assert.deepEqual(
    [again!.function, streamed.choices[0]!.message.content],
    [call.function, message.content],
  );
  history.push(message, { role: "tool", tool_call_id: call.id, content: String(calculate(code)) });
  const second = await client.chat.completions.create(body);
  assert.equal(second.choices[0]!.finish_reason, "stop");
  assert.match(second.choices[0]!.message.content!, /<answer>\\boxed\{-?\d+\}<\/answer>$/);
  const named = { type: "function" as const, function: { name: "python" } };
  const forced = await client.chat.completions.create({
    ...{ model, messages, temperature: 0, tools: [python], tool_choice: named },
  });
  const [must] = forced.choices[0]!.message.tool_calls!;
  assert.ok(must?.type === "function" && must.function.name === "python");
  assert.equal(typeof (JSON.parse(must.function.arguments) as { code: unknown }).code, "string");
  // Which of several functions is the model's choice; that it calls one is not.
  const search = { ...python, function: { ...python.function, name: "search" } };
  for (const stream of [false, true]) {
    const both = { model, messages, temperature: 1, seed: 3, tools: [search, python] };
    const asked = { ...both, tool_choice: "required" as const };
    const any = stream
      ? await client.chat.completions.stream(asked).finalChatCompletion()
      : await client.chat.completions.create(asked);
    const [chosen] = any.choices[0]!.message.tool_calls!;
    assert.ok(chosen?.type === "function" && /^(python|search)$/.test(chosen.function.name));
    assert.ok(!any.choices[0]!.message.content);
  }
  const none = await client.chat.completions.create({ ...body, tool_choice: "none" });
  assert.equal(none.choices[0]!.message.tool_calls, undefined);
});

test("openai's automatic tool loop reaches the answer", async (t) => {
  const { client } = await connect(t);
  const runner = client.chat.completions.runTools({
    ...{ model, messages, temperature: 0 },
    tools: [
      {
        type: "function",
        function: {
          name: "python",
          description: "Runs Python.",
          parameters: python.function.parameters!,
          parse: JSON.parse as (text: string) => { code: string },
          function: ({ code }: { code: string }) => String(calculate(code)),
        },
      },
    ],
  });
  assert.match((await runner.finalContent()) ?? "", /<answer>\\boxed\{-?\d+\}<\/answer>$/);
});

test("openai's errors are of their kinds", async (t) => {
  const { client } = await connect(t);
  const ask = (body: object) => client.chat.completions.create({ model, messages, ...body });
  await assert.rejects(ask({ model: "gpt-4" }), OpenAI.NotFoundError);
  await assert.rejects(ask({ temperature: -1 }), OpenAI.BadRequestError);
  await assert.rejects(ask({ logit_bias: { 1: 5 } }), (error: unknown) => {
    assert.ok(error instanceof OpenAI.BadRequestError);
    assert.deepEqual([error.param, error.type], ["logit_bias", "invalid_request_error"]);
    return true;
  });
});

test("openai's abort frees the sequences", async (t) => {
  const { client, server } = await connect(t);
  const stream = await client.completions.create({
    ...{ model, prompt: "a", max_tokens: 500, n: 8, stream: true },
  });
  await stream[Symbol.asyncIterator]().next();
  stream.controller.abort();
  await until(() => server.load().rows === 0, "the sequences to be given up");
});
