import assert from "node:assert/strict";
import { tmpdir } from "node:os";
import { test } from "node:test";
import type { GenerateOptions } from "../policy.js";
import type { Dialect, RemoteApi } from "./dialect.js";
import { connectRemote } from "./connect.js";
import {
  type Body,
  good,
  type Handler,
  letters,
  once,
  policyAt,
  reply,
  serve,
} from "./testing/fake-endpoint.js";

/** An answer as each server writes it: `text` with the stop string where that server keeps it. */
const answers: Record<string, [Dialect, RemoteApi, Body]> = {
  "vLLM completions": [
    "vllm",
    "completions",
    {
      text: "<s>a</s>",
      finish_reason: "stop",
      stop_reason: "</s>",
      logprobs: {
        tokens: letters.encode("<s>a</s>").map((id) => `token_id:${id}`),
        token_logprobs: Array.from("<s>a</s>", () => -0.5),
        top_logprobs: Array.from("<s>a</s>", (c) => ({
          [`token_id:${c.charCodeAt(0)}`]: -0.5,
          "token_id:120": -1.5,
        })),
      },
    },
  ],
  "SGLang completions": [
    "sglang",
    "completions",
    {
      text: "<s>a</s>",
      finish_reason: "stop",
      matched_stop: "</s>",
      logprobs: {
        tokens: [..."<s>a</s>"],
        token_logprobs: Array.from("<s>a</s>", () => -0.5),
        top_logprobs: Array.from("<s>a</s>", (c) => ({ [c]: -0.5, x: -1.5 })),
      },
    },
  ],
  "llama.cpp completions": [
    "llama.cpp",
    "completions",
    {
      text: "<s>a",
      finish_reason: "stop",
      logprobs: {
        content: Array.from("<s>a", (c) => ({
          id: c.charCodeAt(0),
          token: c,
          logprob: -0.5,
          top_logprobs: [
            { id: c.charCodeAt(0), token: c, logprob: -0.5 },
            { id: 120, token: "x", logprob: -1.5 },
          ],
        })),
      },
    },
  ],
  "OpenAI chat": [
    "openai",
    "chat",
    {
      message: { content: "<s>a" },
      finish_reason: "stop",
      logprobs: {
        content: Array.from("<s>a", (c) => ({
          token: c,
          logprob: -0.5,
          top_logprobs: [
            { token: c, logprob: -0.5 },
            { token: "x", logprob: -1.5 },
          ],
        })),
      },
    },
  ],
};

for (const [server, [dialect, api, choice]] of Object.entries(answers)) {
  test(`RemotePolicy reads what ${server} says`, async (t) => {
    const { url, bodies } = await serve(t, (_, response) => reply(response, choice));
    const policy = policyAt([url], { dialect, api });
    const session = policy.session();
    const messages = [{ role: "user", content: "q" }];
    const sequence = session.open(letters.encode(letters.chat(messages)), { messages });
    const segment = await session.generate(sequence, once());
    assert.equal(letters.decode(segment.tokens), "<s>a</s>");
    assert.deepEqual([segment.finish, segment.stop], ["stop", "</s>"]);
    assert.equal(segment.top.width, 2);
    assert.deepEqual([...segment.top.ids.slice(0, 2)], [60, 120]);
    assert.deepEqual([...segment.logprobs.slice(0, 4)], [-0.5, -0.5, -0.5, -0.5]);
    assert.ok(segment.entropies.every(Number.isNaN));
    assert.equal(letters.decode(sequence.tokens), "user:q<s>a</s>");
    // A fork has the same past and its own future.
    const fork = session.fork(sequence);
    session.append(fork, letters.encode("!"));
    await session.generate(fork, once());
    const [first, second] = bodies;
    if (api === "chat") {
      assert.deepEqual(first!.messages, [{ role: "user", content: "q" }]);
      assert.deepEqual((second!.messages as Body[])[1], {
        role: "assistant",
        content: "<s>a</s>!",
      });
    } else assert.deepEqual(second!.prompt, letters.encode("user:q<s>a</s>!"));
    assert.equal(letters.decode(sequence.tokens), "user:q<s>a</s>");
    const missing = choice.text === "<s>a</s>" ? /2 most likely/ : /8 of 16 tokens came without/;
    assert.match(policy.entropyMeaning, missing);
  });
}

test("RemotePolicy ends a segment at a stop string that began before it", async (t) => {
  const { url } = await serve(t, (_, response) =>
    reply(response, { text: "s>more</s>", finish_reason: "stop", stop_reason: "</s>" }),
  );
  const session = policyAt([url]).session();
  const sequence = session.open(letters.encode("q</"));
  const segment = await session.generate(sequence, { ...once(), begun: 2 });
  assert.equal(letters.decode(segment.tokens), "s>");
  assert.deepEqual([segment.finish, segment.stop], ["stop", "</s>"]);
  assert.equal(letters.decode(sequence.tokens), "q</s>");
  assert.equal(letters.decode((await session.generate(sequence, once())).tokens), "s>more</s>");
});

test("RemotePolicy says what entropy means when log-probs are few or none", async (t) => {
  const { url } = await serve(t, (body, response) =>
    reply(response, {
      text: "ab",
      finish_reason: "stop",
      logprobs:
        body.logprobs === 5
          ? { tokens: ["a", "b"], token_logprobs: [-1, -1], top_logprobs: [{ a: -1 }, { b: -1 }] }
          : null,
    }),
  );
  for (const [topLogprobs, meaning] of [
    [5, /1 of the 5 alternatives/],
    [0, /gives no log-probs/],
  ] as const) {
    const policy = policyAt([url], { topLogprobs });
    const session = policy.session();
    const segment = await session.generate(session.open([65]), once());
    assert.equal(segment.finish, "end");
    assert.deepEqual([...segment.tokens], [97, 98, 1]);
    assert.match(policy.entropyMeaning, meaning);
  }
});

test("RemotePolicy sends the same request for the same stream, and sampling by dialect", async (t) => {
  const { url, bodies } = await serve(t, (_, response) =>
    reply(response, { text: "a", finish_reason: "length" }),
  );
  const session = policyAt([url]).session();
  const options = () => once({ temperature: 0.7, topK: 5, minP: 0.1, allowedIds: [1, 97] });
  await session.generate(session.open([65]), options());
  await session.generate(session.open([65]), options());
  assert.deepEqual(bodies[0], bodies[1]);
  const { temperature, top_k, min_p, allowed_token_ids } = bodies[0]!;
  assert.deepEqual([temperature, top_k, min_p, allowed_token_ids], [0.7, 5, 0.1, [1, 97]]);
});

test("RemotePolicy ends a sequence whose context is full", async (t) => {
  const { url, bodies } = await serve(t, (_, response) =>
    reply(response, { text: "abcd", finish_reason: "length" }),
  );
  const session = policyAt([url]).session();
  const sequence = session.open(Array.from({ length: 60 }, () => 65));
  assert.equal((await session.generate(sequence, once())).finish, "context");
  assert.equal(bodies[0]!.max_tokens, 4);
  assert.equal((await session.generate(sequence, once())).finish, "context");
  assert.equal(bodies.length, 1);
});

const faults: Record<string, Handler> = {
  "429": (_, response) => response.writeHead(429, { "retry-after": "0" }).end(),
  "500": (_, response) => response.writeHead(500).end("oops"),
  "truncated JSON": (_, response) => response.end('{"choices": [{"te'),
  "a reset connection": (_, __, request) => request.socket.resetAndDestroy(),
  "no answer in time": () => undefined,
};
for (const [fault, handler] of Object.entries(faults)) {
  test(`RemotePolicy tries again after ${fault}`, async (t) => {
    let n = 0;
    const { url } = await serve(t, (body, response, request) => {
      if (++n <= 2) handler(body, response, request);
      else reply(response, good);
    });
    const policy = policyAt([url], { timeoutMs: 150 });
    const session = policy.session();
    const { finish } = await session.generate(session.open([65]), once());
    assert.equal(finish, "end");
    const [health] = policy.health();
    assert.deepEqual([health!.failed, health!.succeeded, health!.running], [2, 1, 0]);
  });
}

test("RemotePolicy leaves a broken endpoint for a good one", async (t) => {
  // A broken endpoint rests for milliseconds here: on a busy machine that was over before the last request.
  t.mock.timers.enable({ apis: ["Date"], now: Date.now() });
  const broken = await serve(t, (_, response) => response.writeHead(500).end());
  const sound = await serve(t, (_, response) => reply(response, good));
  const policy = policyAt([broken.url, sound.url]);
  const session = policy.session();
  const sequences = Array.from({ length: 40 }, () => session.open([65]));
  await Promise.all(sequences.map((sequence) => session.generate(sequence, once())));
  const before = broken.bodies.length;
  assert.equal(sound.bodies.length, 40);
  await session.generate(session.open([65]), once());
  assert.equal(broken.bodies.length, before);
  assert.equal(policy.health()[0]!.healthy, false);
});

test("RemotePolicy asks an overloaded endpoint for less at a time", async (t) => {
  let running = 0;
  let most = 0;
  let refused = 0;
  const { url } = await serve(t, (_, response) => {
    if (running >= 4) {
      refused++;
      response.writeHead(429).end();
      return;
    }
    most = Math.max(most, ++running);
    setTimeout(() => {
      running--;
      reply(response, good);
    }, 10);
  });
  const policy = policyAt([url], { concurrency: 16, attempts: 20 });
  const session = policy.session();
  const sequences = Array.from({ length: 64 }, () => session.open([65]));
  await Promise.all(sequences.map((sequence) => session.generate(sequence, once())));
  assert.ok(refused > 0 && most === 4);
  assert.ok(policy.health()[0]!.width < 16);
});

test("RemotePolicy fails at once and tells no key when it is refused", async (t) => {
  process.env.ARPO_LAB_TEST_KEY = "sk-secret";
  t.after(() => delete process.env.ARPO_LAB_TEST_KEY);
  let seen = "";
  const { url, bodies } = await serve(t, (_, response, request) => {
    seen = String(request.headers.authorization);
    response.writeHead(401).end(`bad key ${seen}`);
  });
  const session = policyAt([url], { apiKeyEnv: "ARPO_LAB_TEST_KEY" }).session();
  await assert.rejects(session.generate(session.open([65]), once()), (error: Error) => {
    assert.match(error.message, /status 200, got 401/);
    assert.doesNotMatch(
      JSON.stringify({ ...error, m: error.message, s: error.stack }),
      /sk-secret/,
    );
    return true;
  });
  assert.equal(seen, "Bearer sk-secret");
  assert.equal(bodies.length, 1);
});

test("RemotePolicy stops asking when its caller does", async (t) => {
  const { url } = await serve(t, () => undefined);
  const session = policyAt([url], { concurrency: 1 }).session();
  const stop = new AbortController();
  const asked = [1, 2].map(() =>
    session.generate(session.open([65]), once({ signal: stop.signal })),
  );
  setTimeout(() => {
    stop.abort(new Error("interrupted"));
  }, 30);
  for (const { status } of await Promise.allSettled(asked)) assert.equal(status, "rejected");
});

test("RemotePolicy.checkTokenizer() compares with the endpoint's", async (t) => {
  const { url } = await serve(t, (body, response) => {
    const shift = body.model === "other" ? 1 : 0;
    response.end(
      JSON.stringify({ tokens: letters.encode(String(body.prompt)).map((id) => id + shift) }),
    );
  });
  await policyAt([url]).checkTokenizer("abc");
  await assert.rejects(
    policyAt([url], { model: "other" }).checkTokenizer("abc"),
    /must be the one given/,
  );
});

test("connectRemote() asks for the model's name and its longest sequence", async (t) => {
  let models: Body[] = [{ id: "m", max_model_len: 99 }];
  const { url } = await serve(t, (_, response) => response.end(JSON.stringify({ data: models })));
  const policy = await connectRemote([url], { tokenizer: letters });
  assert.deepEqual([policy.name, policy.contextLength], [`m at ${new URL(url).host}`, 99]);
  models = [{ id: "a", meta: { n_ctx_train: 7 } }, { id: "b" }];
  assert.equal((await connectRemote([url], { tokenizer: letters, model: "a" })).contextLength, 7);
  await assert.rejects(
    connectRemote([url], { tokenizer: letters }),
    /must be one of a, b, got none/,
  );
  await assert.rejects(
    connectRemote([url], { tokenizer: letters, model: "c" }),
    /must be one of a, b, got c/,
  );
  await assert.rejects(
    connectRemote([url], { tokenizer: letters, model: "b" }),
    /contextLength must be given/,
  );
});

test("connectRemote() finds a tokenizer where Policy.load() finds the model", async (t) => {
  const { url } = await serve(t, (_, response) =>
    response.end(JSON.stringify({ data: [{ id: "m", max_model_len: 99 }] })),
  );
  const here = process.cwd();
  process.chdir(tmpdir());
  t.after(() => process.chdir(here));
  const policy = await connectRemote([url], { tokenizer: "data/models/tiny" });
  assert.equal(policy.tokenizer.decode(policy.tokenizer.encode("6*7?")), "6*7?");
});

test("RemotePolicy refuses an endpoint that takes the prompt for another number of tokens", async (t) => {
  let counted = 3;
  const { url } = await serve(t, (_, response) =>
    response.end(
      JSON.stringify({
        choices: [{ text: "a", finish_reason: "length" }],
        usage: { prompt_tokens: counted },
      }),
    ),
  );
  for (const dialect of ["openai", "transformers"] as const) {
    const session = policyAt([url], { dialect }).session();
    const ask = () => session.generate(session.open(letters.encode("abc")), once());
    for (counted of [3, 4]) assert.equal((await ask()).finish, "length");
    counted = 5;
    await assert.rejects(ask(), /makes 3 tokens of a prompt, got 5/);
  }
});

test("RemotePolicy gives transformers serve a generation config of its own", async (t) => {
  const { url, bodies } = await serve(t, (_, response) =>
    reply(response, { text: "a</s>", finish_reason: "length" }),
  );
  const session = policyAt([url], { dialect: "transformers" }).session();
  const ask = (options: Partial<GenerateOptions>) =>
    session.generate(session.open(letters.encode("abc")), once(options));
  // It calls whatever fills the last place "length", a stop string too.
  assert.equal((await ask({ temperature: 0 })).stop, "</s>");
  await ask({ temperature: 0.5, topK: 4, allowedIds: [1, 97] });
  const [greedy, sampled] = bodies.map(
    ({ generation_config }) => JSON.parse(generation_config as string) as Body,
  );
  assert.equal(greedy!.do_sample, false);
  const { do_sample, temperature, top_k, eos_token_id, suppress_tokens } = sampled!;
  assert.deepEqual([do_sample, temperature, top_k, eos_token_id], [true, 0.5, 4, [1]]);
  assert.equal((suppress_tokens as number[]).length, 126);
  assert.equal(bodies[0]!.prompt, "abc");
});

test("RemotePolicy says how likely a token was among what was left, where the endpoint tells enough", async (t) => {
  const said = (top: Record<string, number>) => ({
    ...{ text: "a", finish_reason: "length", token_ids: [97] },
    logprobs: { tokens: ["token_id:97"], token_logprobs: [Math.log(0.5)], top_logprobs: [top] },
    sampling_mask: { token_ids: [97, 98], offsets: [0, 2] },
  });
  const over = async (top: Record<string, number>) => {
    const { url } = await serve(t, (_, response) => reply(response, said(top)));
    const session = policyAt([url], { dialect: "vllm" }).session();
    const { support } = await session.generate(session.open([1]), once({ maxTokens: 1 }));
    assert.deepEqual([...support!.ids], [97, 98]);
    return support!.logprobs[0]!;
  };
  const known = await over({ "token_id:97": Math.log(0.5), "token_id:98": Math.log(0.3) });
  assert.ok(Math.abs(known - Math.log(0.5 / 0.8)) < 1e-6);
  // 98 is not among the alternatives that are told.
  assert.ok(Number.isNaN(await over({ "token_id:97": Math.log(0.5) })));
});
