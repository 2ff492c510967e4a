import assert from "node:assert/strict";
import { once } from "node:events";
import { request as httpRequest } from "node:http";
import { connect } from "node:net";
import { test, type TestContext } from "node:test";
import { ByteTokenizer } from "../../../tests/policy/byte-tokenizer.js";
import { ScriptedDecoder, slowed } from "../../../tests/policy/scripted-decoder.js";
import { until } from "../../../tests/until.js";
import { LocalPolicy } from "../../policy/local-policy.js";
import { PolicyServer, type ServeOptions } from "./policy-server.js";

type Json = Record<string, unknown>;
interface Answer {
  status: number;
  headers: Headers;
  json: {
    choices: {
      text: string;
      index: number;
      finish_reason: string;
      stop_reason: string | null;
      logprobs: { tokens: string[]; token_logprobs: (number | null)[]; text_offset: number[] };
      message: { content: string | null };
    }[];
    usage: Json;
    error: { message: string; type: string; param: string | null; code: string | null };
  } & Json;
}

/** A server whose model goes on counting letters: after "a" comes "b", and "z" ends it. */
async function alphabet(t: TestContext, options: ServeOptions = {}, delayMs = 0) {
  const tokenizer = new ByteTokenizer(["é"]);
  const next = (tokens: readonly number[]) => {
    const last = tokens.at(-1)!;
    return last === 122 || last >= 256 ? tokenizer.eosId : last + 1;
  };
  const sizes = { vocabSize: tokenizer.vocabSize, contextLength: 64 };
  const decoder = slowed(new ScriptedDecoder(sizes, next), delayMs);
  const policy = new LocalPolicy({ name: "abc", tokenizer, decoder });
  const server = await PolicyServer.start(policy, options);
  t.after(() => server.stop());
  const post = async (path: string, body: Json | string, headers: Json = {}): Promise<Answer> => {
    const response = await fetch(`${server.url}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...(headers as Record<string, string>) },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
    const json = (await response.json()) as Answer["json"];
    return { status: response.status, headers: response.headers, json };
  };
  const complete = (body: Json) => post("/completions", { model: "abc", temperature: 0, ...body });
  return { server, decoder, tokenizer, post, complete };
}

test("PolicyServer completes: the end, the length, the context, stop strings", async (t) => {
  const { complete } = await alphabet(t);
  const one = async (body: Json) => {
    const { json } = await complete(body);
    const { text, finish_reason, stop_reason } = json.choices[0]!;
    return [text, finish_reason, stop_reason];
  };
  assert.deepEqual(await one({ prompt: "x" }), ["yz", "stop", null]);
  assert.deepEqual(await one({ prompt: "a", max_tokens: 3 }), ["bcd", "length", null]);
  assert.deepEqual(await one({ prompt: "a" }), ["bcdefghijklmnopq", "length", null]);
  assert.deepEqual(await one({ prompt: "a", stop: "ef" }), ["bcd", "stop", "ef"]);
  assert.deepEqual(await one({ prompt: "a", stop: ["zz", "de"] }), ["bc", "stop", "de"]);
  assert.deepEqual(await one({ prompt: "a", stop: "ef", include_stop_str_in_output: true }), [
    "bcdef",
    "stop",
    "ef",
  ]);
  assert.deepEqual(await one({ prompt: "!".repeat(62), max_tokens: 50 }), ['"#', "length", null]);
  assert.deepEqual(await one({ prompt: [97], max_tokens: 1 }), ["b", "length", null]);
});

test("PolicyServer answers every prompt n times, echoes, and counts tokens", async (t) => {
  const { complete } = await alphabet(t);
  const { json } = await complete({ prompt: ["x", "yy"], n: 2, echo: true });
  assert.deepEqual(
    json.choices.map(({ index, text }) => [index, text]),
    [
      [0, "xyz"],
      [1, "xyz"],
      [2, "yyz"],
      [3, "yyz"],
    ],
  );
  assert.deepEqual(json.usage, { prompt_tokens: 3, completion_tokens: 10, total_tokens: 13 });
  const scored = await complete({ prompt: "x", echo: true, logprobs: 1 });
  assert.deepEqual([scored.status, scored.json.error.param], [400, "echo"]); // no model to score with
});

test("PolicyServer gives log-probs of the tokens its text shows", async (t) => {
  const { complete } = await alphabet(t);
  const { json } = await complete({ prompt: "a", stop: "de", logprobs: 2 });
  const { tokens, token_logprobs, text_offset } = json.choices[0]!.logprobs;
  assert.deepEqual(
    [tokens, text_offset],
    [
      ["b", "c"],
      [0, 1],
    ],
  );
  assert.ok(token_logprobs.every((logprob) => typeof logprob === "number"));
  const ids = await complete({ prompt: "y", logprobs: 0, return_tokens_as_token_ids: true });
  assert.deepEqual(ids.json.choices[0]!.logprobs.tokens, ["token_id:122", "token_id:257"]);
  const all = await complete({ prompt: "y", return_token_ids: true, return_entropies: true });
  const choice = all.json.choices[0] as unknown as Json;
  assert.deepEqual([choice.token_ids, choice.prompt_token_ids], [[122, 257], [121]]);
  assert.equal((choice.entropies as number[]).length, 2);
});

test("PolicyServer tells bad input in OpenAI's shape", async (t) => {
  const { post, complete, server } = await alphabet(t, { maxBytes: 5000 });
  const cases: [Json, number, RegExp, string | null][] = [
    [{}, 400, /Invalid value for 'prompt'/, "prompt"],
    [{ prompt: "" }, 400, /at least one token/, "prompt"],
    [{ prompt: "x", model: "gpt" }, 404, /'gpt' does not exist; this is 'abc'/, "model"],
    [{ prompt: "x", max_tokns: 3 }, 400, /did you mean max_tokens\?/, "max_tokns"],
    [{ prompt: "x", temperature: "hot" }, 400, /'temperature'/, "temperature"],
    [{ prompt: "x", top_p: 0 }, 400, /'top_p'/, "top_p"],
    [{ prompt: "x", n: 0 }, 400, /'n'/, "n"],
    [{ prompt: "x", n: 100 }, 400, /at most 64 choices/, "n"],
    [{ prompt: "x", logprobs: 21 }, 400, /'logprobs'/, "logprobs"],
    [{ prompt: "x", presence_penalty: 1 }, 400, /only 0 is supported/, "presence_penalty"],
    [{ prompt: "x", best_of: 3 }, 400, /'best_of'/, "best_of"],
    [{ prompt: "x", stop: "" }, 400, /'stop'/, "stop"],
    [{ prompt: "x", stream_options: {} }, 400, /only for requests with 'stream'/, "stream_options"],
    [{ prompt: "a".repeat(64) }, 400, /maximum context length is 64 tokens/, "prompt"],
    [{ prompt: [97, 999] }, 400, /below 258, got 999/, "prompt"],
    [{ prompt: "x", allowed_token_ids: [999] }, 400, /below 258, got 999/, "allowed_token_ids"],
  ];
  for (const [body, status, message, param] of cases) {
    const answer = await complete(body);
    const { error } = answer.json;
    assert.deepEqual([answer.status, error.param], [status, param], error.message);
    assert.match(error.message, message);
    assert.equal(error.type, "invalid_request_error");
  }
  const chat = (body: Json) =>
    post("/chat/completions", {
      model: "abc",
      messages: [{ role: "user", content: "x" }],
      ...body,
    });
  for (const [body, message] of [
    [{ messages: [] }, /'messages'/],
    [{ messages: [{ role: "robot", content: "x" }] }, /messages\.0\.role/],
    [{ messages: [{ role: "user", content: [{ type: "image_url" }] }] }, /messages\.0\.content/],
    [{ top_logprobs: 2 }, /needs 'logprobs'/],
    [{ response_format: { type: "yaml" } }, /'response_format.*type text, json_object or/],
    [{ max_completion_tokens: 0 }, /At least one token/],
  ] as const) {
    const { status, json } = await chat(body as Json);
    assert.equal(status, 400);
    assert.match(json.error.message, message);
  }
  assert.match((await post("/completions", "{oops")).json.error.message, /must be JSON in UTF-8/);
  assert.match((await post("/completions", "[]")).json.error.message, /must be a JSON object/);
  const large = await complete({ prompt: "a".repeat(6000) });
  assert.deepEqual([large.status, large.json.error.code], [413, "request_too_large"]);
  const form = await post("/completions", "{}", { "content-type": "text/plain" });
  assert.equal(form.status, 415);
  assert.equal((await post("/nothing", {})).status, 404);
  const got = await fetch(`${server.url}/completions`);
  assert.deepEqual([got.status, got.headers.get("allow")], [405, "POST"]);
  assert.equal((await complete({ prompt: "y" })).json.choices[0]!.text, "z"); // and it still works
});

test("PolicyServer refuses a body that grows too large without saying so", async (t) => {
  const { server } = await alphabet(t, { maxBytes: 1000 });
  const { port } = new URL(server.url);
  const request = httpRequest({
    port: Number(port),
    path: "/v1/completions",
    method: "POST",
    headers: { "content-type": "application/json", "transfer-encoding": "chunked" },
  });
  request.on("error", () => undefined); // the connection is closed under it
  request.write("x".repeat(2000));
  const [response] = (await once(request, "response")) as [{ statusCode: number }];
  assert.equal(response.statusCode, 413);
  request.destroy();
});

test("a stream's first chunk has the prompt's ids, as vLLM's has", async (t) => {
  const { server } = await alphabet(t);
  const chunksOf = async (path: string, body: Json) => {
    const response = await fetch(`${server.url}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "abc", stream: true, n: 2, return_token_ids: true, ...body }),
    });
    const events = (await response.text()).trim().split("\n\n").slice(0, -1);
    return events.map((e) => JSON.parse(e.slice(6)) as Answer["json"]);
  };
  const texts = await chunksOf("/completions", {
    prompt: ["wx", "y"],
    temperature: 0,
    max_tokens: 2,
  });
  for (const [index, ids] of [[119, 120], [119, 120], [121], [121]].entries()) {
    const [first, ...rest] = texts
      .flatMap(({ choices }) => choices as unknown as Json[])
      .filter((choice) => choice["index"] === index);
    assert.deepEqual(first!["prompt_token_ids"], ids);
    assert.ok(rest.length > 0 && rest.every((choice) => !("prompt_token_ids" in choice)));
  }
  const messages = [{ role: "user", content: "x" }];
  const chats = await chunksOf("/chat/completions", { messages, max_tokens: 2 });
  assert.ok((chats[0]!["prompt_token_ids"] as number[]).length > 0);
  assert.ok(chats.slice(1).every((chunk) => !("prompt_token_ids" in chunk)));
});

test("model: any takes requests for every model; reasoning_effort has no effect", async (t) => {
  const { server, post, complete } = await alphabet(t, { model: "any" });
  assert.equal(server.model, "abc");
  assert.equal((await complete({ prompt: "x", model: "gpt-9" })).json.choices[0]!.text, "yz");
  const messages = [{ role: "user", content: "x" }];
  const asked = { model: "gpt-9", messages, reasoning_effort: "low", max_tokens: 1 };
  const chat = await post("/chat/completions", asked);
  assert.deepEqual([chat.status, chat.json["model"]], [200, "abc"]);
  assert.equal((await post("/../tokenize", { model: "gpt-9", prompt: "x" })).status, 200);
  assert.equal((await fetch(`${server.url}/models/gpt-9`)).status, 200);
});

test("PolicyServer streams text, then why it ended, then the usage", async (t) => {
  const { server } = await alphabet(t);
  const response = await fetch(`${server.url}/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      ...{ model: "abc", temperature: 0, prompt: "w", stream: true, n: 2, logprobs: 1 },
      stream_options: { include_usage: true },
    }),
  });
  assert.match(response.headers.get("content-type")!, /^text\/event-stream/);
  const events = (await response.text()).trim().split("\n\n");
  assert.equal(events.at(-1), "data: [DONE]");
  const chunks = events.slice(0, -1).map((e) => JSON.parse(e.slice(6)) as Answer["json"]);
  for (const index of [0, 1]) {
    const own = chunks.flatMap(({ choices }) => choices).filter((c) => c.index === index);
    assert.equal(own.map(({ text }) => text).join(""), "xyz");
    assert.deepEqual(
      own.flatMap(({ logprobs }) => logprobs.text_offset),
      [0, 1, 2],
    );
    assert.equal(own.at(-1)!.finish_reason, "stop");
    assert.ok(own.slice(0, -1).every(({ finish_reason }) => finish_reason === null));
  }
  const { choices, usage } = chunks.at(-1)!;
  assert.deepEqual(choices, []);
  assert.deepEqual(usage, { prompt_tokens: 1, completion_tokens: 8, total_tokens: 9 });
  assert.ok(chunks.slice(0, -1).every((chunk) => chunk.usage === null));
});

test("PolicyServer decodes requests of the same time together", async (t) => {
  const { complete, decoder } = await alphabet(t, {}, 1);
  const answers = await Promise.all(
    Array.from({ length: 16 }, () => complete({ prompt: "a", max_tokens: 20 })),
  );
  assert.ok(answers.every(({ json }) => json.choices[0]!.text === "bcdefghijklmnopqrstu"));
  // 16 requests of 20 tokens each: one after another it would be 320 steps.
  assert.ok(decoder.steps.length < 120, `${decoder.steps.length} steps`);
  assert.ok(Math.max(...decoder.steps.map((fed) => fed.length)) >= 8);
});

test("PolicyServer lets requests wait for their turn, and no more than it may", async (t) => {
  const { complete, decoder, server } = await alphabet(t, { maxRows: 2, maxQueue: 3 }, 5);
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => complete({ prompt: "a", max_tokens: 10 })),
  );
  const statuses = answers.map(({ status }) => status).sort();
  assert.deepEqual(statuses, [200, 200, 200, 200, 200, 429, 429, 429]);
  const refused = answers.find(({ status }) => status === 429)!;
  assert.equal(refused.headers.get("retry-after"), "1");
  assert.equal(refused.json.error.type, "rate_limit_error");
  assert.ok(Math.max(...decoder.steps.map((fed) => fed.length)) <= 2);
  assert.deepEqual([server.load(), decoder.rows], [{ rows: 0, waiting: 0 }, 0]);
});

test("PolicyServer gives up the sequences of a client that hangs up", async (t) => {
  const { server, decoder, complete } = await alphabet(t, { maxRows: 4, maxQueue: 8 }, 20);
  for (const stream of [true, false]) {
    const { hostname, port } = new URL(server.url);
    const socket = connect(Number(port), hostname);
    const body = JSON.stringify({ model: "abc", prompt: "!", max_tokens: 60, n: 4, stream });
    socket.write(
      `POST /v1/completions HTTP/1.1\r\nHost: ${hostname}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    await until(() => decoder.rows === 4, "four sequences to be written");
    // One that waits hangs up too.
    const waiting = new AbortController();
    const late = fetch(`${server.url}/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
      signal: waiting.signal,
    });
    await until(() => server.load().waiting === 1, "a request to wait");
    waiting.abort();
    await assert.rejects(late);
    await until(() => server.load().waiting === 0, "the waiting request to be given up");
    const steps = decoder.steps.length;
    socket.destroy();
    await until(() => server.load().rows === 0, "the sequences to be given up");
    assert.equal(decoder.rows, 0);
    assert.ok(decoder.steps.length - steps < 40, "it went on to the end");
  }
  assert.equal((await complete({ prompt: "x" })).json.choices[0]!.text, "yz");
});

test("PolicyServer lets running requests finish when it stops, for so long", async (t) => {
  for (const [graceMs, expected] of [
    [60_000, 200],
    [0, 503],
  ] as const) {
    const { server, complete, decoder } = await alphabet(t, {}, 10);
    const running = complete({ prompt: "!", max_tokens: 20 });
    await until(() => decoder.rows > 0, "the request to run");
    await Promise.all([
      server.stop(graceMs),
      running.then(({ status }) => {
        assert.equal(status, expected);
      }),
    ]);
    assert.equal(decoder.rows, 0);
    await assert.rejects(complete({ prompt: "a" }));
  }
});

test("PolicyServer asks for the key it was given", async (t) => {
  process.env["ARPO_LAB_TEST_KEY"] = "a secret";
  t.after(() => {
    delete process.env["ARPO_LAB_TEST_KEY"];
  });
  const { post } = await alphabet(t, { apiKeyEnv: "ARPO_LAB_TEST_KEY" });
  const body = { model: "abc", prompt: "y", temperature: 0 };
  for (const headers of [{}, { authorization: "Bearer wrong" }, { authorization: "a secret" }]) {
    const { status, json } = await post("/completions", body, headers);
    assert.deepEqual([status, json.error.code], [401, "invalid_api_key"]);
    assert.ok(!JSON.stringify(json).includes("a secret"));
  }
  const { json } = await post("/completions", body, { authorization: "Bearer a secret" });
  assert.equal(json.choices[0]!.text, "z");
});

test("PolicyServer is not for other machines, nor for other sites' pages", async (t) => {
  const { server, post } = await alphabet(t);
  await assert.rejects(alphabet(t, { host: "0.0.0.0" }), /beyond this machine a key is needed/);
  await assert.rejects(
    alphabet(t, { apiKeyEnv: "ARPO_LAB_TEST_NONE" }),
    /ARPO_LAB_TEST_NONE must hold a key/,
  );
  const page = { origin: "https://evil.example" };
  const body = { model: "abc", prompt: "y" };
  assert.equal((await post("/completions", body, page)).status, 403);
  assert.equal((await post("/completions", body, { origin: "null" })).status, 403);
  // A page of another local port is another program's page, whatever its host is called.
  for (const origin of ["http://127.0.0.1:1", "http://localhost"]) {
    const refused = await post("/completions", body, { origin });
    assert.deepEqual([refused.status, refused.json.error.code], [403, "forbidden_host"]);
  }
  const own = { origin: new URL(server.url).origin };
  assert.equal((await post("/completions", body, own)).status, 200);
  const { port } = new URL(server.url);
  const status = await new Promise((resolve) => {
    const headers = { host: `evil.example:${port}` };
    httpRequest({ port: Number(port), path: "/v1/models", headers }, (response) => {
      response.resume();
      resolve(response.statusCode);
    }).end();
  });
  assert.equal(status, 403);
});

test("PolicyServer.start() says when its port is taken", async (t) => {
  const { server } = await alphabet(t);
  const port = Number(new URL(server.url).port);
  const tokenizer = new ByteTokenizer([]);
  const sizes = { vocabSize: tokenizer.vocabSize, contextLength: 64 };
  const decoder = new ScriptedDecoder(sizes, () => tokenizer.eosId);
  const policy = new LocalPolicy({ name: "abc", tokenizer, decoder });
  await assert.rejects(
    PolicyServer.start(policy, { port }),
    /Cannot serve: 127\.0\.0\.1 must be an address of this machine with port \d+ free, got EADDRINUSE/,
  );
});
