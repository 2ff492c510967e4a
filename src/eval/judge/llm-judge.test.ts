import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { until } from "../../../tests/until.js";
import { LlmJudge, type LlmJudgeOptions } from "./llm-judge.js";

interface Body {
  model: string;
  temperature: number;
  messages: { role: string; content: string }[];
}
type Handler = (body: Body, response: ServerResponse, request: IncomingMessage) => void;

async function serve(t: TestContext, handler: Handler): Promise<{ url: string; bodies: Body[] }> {
  const bodies: Body[] = [];
  const server = createServer((request, response) => {
    let text = "";
    request.on("data", (data: Buffer) => (text += data.toString()));
    request.on("end", () => {
      const body = JSON.parse(text) as Body;
      bodies.push(body);
      handler(body, response, request);
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, bodies };
}

const usage = { prompt_tokens: 100, completion_tokens: 10 };
const says = (response: ServerResponse, content: string, choice: object = {}) =>
  response.end(
    JSON.stringify({
      choices: [{ message: { role: "assistant", content }, finish_reason: "stop", ...choice }],
      usage,
    }),
  );

/** A judge that knows: right when the prediction says "right". */
const honest: Handler = (body, response) =>
  says(response, /Predicted Answer: right/.test(body.messages[0]!.content) ? "Correct" : "Wrong.");

function judgeAt(t: TestContext, url: string, options: Partial<LlmJudgeOptions> = {}) {
  const judge = new LlmJudge({ urls: url, model: "m", backoffMs: 5, ...options });
  t.after(() => {
    judge.close();
  });
  return judge;
}

function folder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), "arpo-judge-"));
  t.after(() => {
    rmSync(path, { recursive: true });
  });
  return path;
}

const ask = (prediction: string, question = "q") => ({ question, answer: "gold", prediction });

test("LlmJudge asks in the reference's words and reads the verdicts in order", async (t) => {
  const { url, bodies } = await serve(t, honest);
  const judge = judgeAt(t, url);
  const verdicts = await judge.judge([ask("right"), ask("left"), ask("right one"), ask("gold")]);
  assert.deepEqual(
    verdicts.map(({ correct, reply, failure }) => [correct, reply, failure]),
    [
      [true, "Correct", undefined],
      [false, "Wrong.", undefined],
      [true, "Correct", undefined],
      [true, undefined, undefined], // the strings are equal: nobody was asked
    ],
  );
  assert.equal(bodies.length, 3);
  assert.deepEqual(Object.keys(bodies[0]!), ["model", "messages", "temperature"]);
  assert.match(bodies[0]!.messages[0]!.content, /^Given a Question and its Golden Answer, verify/);
  assert.match(bodies[0]!.messages[0]!.content, /Question: q\nGolden Answer: gold\nPredicted/);
  const all = judgeAt(t, url, { askEquivalent: true });
  assert.equal((await all.judge([ask("gold")]))[0]!.reply, "Wrong.");
  assert.ok((await all.judge([ask("gold")]))[0]!.correct);
});

const faults: Record<string, [Handler, string, RegExp]> = {
  "a slow endpoint": [() => undefined, "timeout", /got nothing in time/],
  "status 429": [
    (_, response) => response.writeHead(429, { "retry-after": "0.01" }).end(),
    "rate-limit",
    /got 429/,
  ],
  "status 500": [(_, response) => response.writeHead(500).end("oops"), "server", /got 500/],
  "a reset connection": [
    (_, __, request) => request.socket.resetAndDestroy(),
    "connection",
    /ECONNRESET/,
  ],
  "truncated JSON": [
    (_, response) => response.end('{"choices": [{"message": {"content": "Corr'),
    "malformed",
    /must answer with JSON/,
  ],
  "JSON of another kind": [
    (_, response) => response.end('{"error": null}'),
    "malformed",
    /must be a chat completion/,
  ],
  nonsense: [(_, response) => says(response, "Bananas."), "nonsense", /got "Bananas\."/],
  "a refusal in words": [
    (_, response) => says(response, "I'm sorry, I cannot say whether this is correct."),
    "refusal",
    /a refusal/,
  ],
  "a refusal by field": [
    (_, response) =>
      says(response, "", { message: { content: null, refusal: "I will not judge that." } }),
    "refusal",
    /I will not judge/,
  ],
  "a reply cut off": [
    (_, response) =>
      says(response, "Let me see whether it is correct", { finish_reason: "length" }),
    "cut-off",
    /one cut off/,
  ],
};
for (const [name, [handler, fault, message]] of Object.entries(faults)) {
  test(`LlmJudge tells ${name}, and tries again`, async (t) => {
    let broken = true;
    const { url, bodies } = await serve(t, (body, response, request) => {
      const first = bodies.length === 1 || broken;
      (first ? handler : honest)(body, response, request);
    });
    const options = {
      timeoutMs: fault === "timeout" ? 1000 : 60_000,
      attempts: 2,
      cacheFile: join(folder(t), "judge.jsonl"),
    };
    const judge = judgeAt(t, url, options);
    const [failed, equal] = await judge.judge([ask("left"), ask("gold")]);
    assert.equal(failed!.fault, fault);
    assert.match(failed!.failure!, message);
    assert.deepEqual([failed!.correct, equal!.correct, equal!.failure], [false, true, undefined]);
    assert.equal(bodies.length, 2);
    assert.deepEqual(judge.faults(), { [fault]: 2 });
    // Nothing of it was kept; the next one fails once and then answers.
    broken = false;
    bodies.length = 0;
    const [verdict] = await judge.judge([ask("right")]);
    assert.deepEqual([verdict!.correct, verdict!.failure, bodies.length], [true, undefined, 2]);
    assert.deepEqual(judge.faults(), { [fault]: 3 });
    assert.equal(judge.cost().requests, 4);
  });
}

test("LlmJudge waits as long as Retry-After says, in seconds or until a date", async (t) => {
  for (const after of ["1", () => new Date(Date.now() + 2000).toUTCString()]) {
    const times: number[] = [];
    const { url } = await serve(t, (body, response, request) => {
      times.push(performance.now());
      if (times.length > 1) honest(body, response, request);
      else {
        const value = typeof after === "string" ? after : after();
        response.writeHead(429, { "retry-after": value }).end();
      }
    });
    assert.ok((await judgeAt(t, url).judge([ask("right")]))[0]!.correct);
    assert.ok(times[1]! - times[0]! > 900, `waited ${times[1]! - times[0]!} ms`);
  }
});

test("LlmJudge stops at once where no repetition helps", async (t) => {
  for (const status of [401, 403, 404]) {
    const { url, bodies } = await serve(t, (_, response) => response.writeHead(status).end());
    const judge = judgeAt(t, url, { concurrency: 1 });
    const many = Array.from({ length: 20 }, (_, i) => ask(`p${i}`));
    await assert.rejects(judge.judge(many), new RegExp(`got ${status}`));
    assert.ok(bodies.length < 20);
  }
  const { url, bodies } = await serve(t, honest);
  const keyless = judgeAt(t, url, { apiKeyEnv: "ARPO_LAB_TEST_NO_SUCH_KEY" });
  await assert.rejects(keyless.judge([ask("right")]), /ARPO_LAB_TEST_NO_SUCH_KEY must hold a key/);
  assert.deepEqual([bodies.length, keyless.cost().requests], [0, 0]);
});

test("LlmJudge asks many at a time, no more than it may, and equal ones once", async (t) => {
  let running = 0;
  let most = 0;
  const waiting: (() => void)[] = [];
  const { url, bodies } = await serve(t, (body, response, request) => {
    most = Math.max(most, ++running);
    waiting.push(() => {
      running--;
      honest(body, response, request);
    });
    // Answers wait until there are as many as may be asked at a time, and a little longer for one too many.
    if (waiting.length === 4) {
      const together = waiting.splice(0);
      setTimeout(() => together.forEach((answer) => answer()), 10);
    }
  });
  const judge = judgeAt(t, url, { concurrency: 4 });
  const verdicts = await judge.judge(Array.from({ length: 24 }, (_, i) => ask(`right ${i % 12}`)));
  assert.ok(verdicts.every(({ correct }) => correct));
  assert.deepEqual([bodies.length, most], [12, 4]);
  assert.equal(verdicts.filter(({ cached }) => cached).length, 12);
});

test("LlmJudge counts what it cost", async (t) => {
  const { url } = await serve(t, honest);
  const options = {
    cacheFile: join(folder(t), "judge.jsonl"),
    prices: { m: { prompt: 2, completion: 10 } },
  };
  const judge = judgeAt(t, url, options);
  await judge.judge([ask("right"), ask("left"), ask("gold")]);
  await judge.judge([ask("right")]);
  const { price, ...counts } = judge.cost();
  assert.deepEqual(counts, {
    questions: 4,
    equivalent: 1,
    cached: 1,
    requests: 2,
    promptTokens: 200,
    completionTokens: 20,
    withoutUsage: 0,
  });
  assert.ok(Math.abs(price! - (200 * 2 + 20 * 10) / 1e6) < 1e-12);
  assert.equal(judgeAt(t, url).cost().price, undefined);
});

test("LlmJudge believes nothing in its cache that it did not write", async (t) => {
  const { url, bodies } = await serve(t, honest);
  const cacheFile = join(folder(t), "judge.jsonl");
  const notes: string[] = [];
  const note = (line: string) => void notes.push(line);
  const questions = [ask("left"), ask("right"), ask("other"), ask("fourth")];
  const first = judgeAt(t, url, { cacheFile, note });
  await first.judge(questions);
  first.close();
  assert.deepEqual([bodies.length, notes.length], [4, 0]);
  const entries = readFileSync(cacheFile, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as [string, { reply: string; model: string; sum: string }]);
  // A verdict turned round, another's verdict under this key, and one of another shape.
  const [left, right, other] = entries as [
    (typeof entries)[0],
    (typeof entries)[0],
    (typeof entries)[0],
  ];
  const poison = [
    [left[0], { ...left[1], reply: "Correct" }],
    [right[0], { ...left[1] }],
    [other[0], "Correct"],
  ];
  for (const line of poison) appendFileSync(cacheFile, `\n${JSON.stringify(line)}\n`);
  appendFileSync(cacheFile, '["half a li'); // a writer was killed here
  const second = judgeAt(t, url, { cacheFile, note });
  const verdicts = await second.judge(questions);
  assert.deepEqual(
    verdicts.map(({ correct, cached }) => [correct, cached]),
    [
      [false, false],
      [true, false],
      [false, false],
      [false, true],
    ],
  );
  assert.equal(bodies.length, 7);
  assert.equal(notes.length, 1);
  assert.match(notes[0]!, /not as they were written; those are asked again/);
  // Asking again fixed the file.
  const third = judgeAt(t, url, { cacheFile, note });
  assert.ok((await third.judge(questions)).every(({ cached }) => cached));
  assert.deepEqual([bodies.length, notes.length], [7, 1]);
  // A file that is something else entirely loses nothing but time.
  writeFileSync(cacheFile, "this is not a cache\n\u0000\u0001\n[1,2]\n");
  const fourth = judgeAt(t, url, { cacheFile, note });
  assert.ok((await fourth.judge(questions)).every(({ cached }) => !cached));
  fourth.close();
  assert.match(notes.at(-1)!, /lines of .* could not be read/);
});

test("LlmJudge killed in the middle asks only for what is missing", async (t) => {
  let alive = true;
  const { url, bodies } = await serve(t, (body, response, request) => {
    if (!alive || bodies.length <= 20) honest(body, response, request);
  });
  const cacheFile = join(folder(t), "judge.jsonl");
  const questions = Array.from({ length: 40 }, (_, i) => ask(`right ${i}`));
  const module = fileURLToPath(new URL("./llm-judge.js", import.meta.url));
  const code = `
    const { LlmJudge } = await import(${JSON.stringify(module)});
    const judge = new LlmJudge(${JSON.stringify({ urls: url, model: "m", cacheFile, concurrency: 2 })});
    await judge.judge(${JSON.stringify(questions)});`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", code], { stdio: "inherit" });
  await until(() => bodies.length === 22, "20 answers and two questions that wait for theirs");
  child.kill("SIGKILL");
  await once(child, "exit");
  alive = false;
  const before = bodies.length;
  const notes: string[] = [];
  const judge = judgeAt(t, url, { cacheFile, note: (line) => void notes.push(line) });
  const verdicts = await judge.judge(questions);
  assert.ok(verdicts.every(({ correct }) => correct));
  // What was under way when it died is lost, nothing else.
  const kept = verdicts.filter(({ cached }) => cached).length;
  assert.ok(kept >= before - 4 && kept < 40, `${kept} of ${before} were kept`);
  assert.equal(bodies.length, before + 40 - kept);
  assert.deepEqual(notes, []);
});
