import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { Endpoints } from "./endpoints.js";
import type { EndpointOptions } from "./endpoint-options.js";
import { HttpError, type requestJson } from "./request-json.js";

const [a, b] = ["http://a.example/v1", "http://b.example/v1"];
type Answer = () => unknown;

/** Endpoints whose network is a list of answers each, and whose clock stands until it is moved. */
function scripted(t: TestContext, answers: Record<string, Answer[]>, options = {}) {
  t.mock.timers.enable({ apis: ["setTimeout", "Date"], now: 1_000_000 });
  t.mock.method(Math, "random", () => 1);
  const asked: { host: string; at: number }[] = [];
  const notes: string[] = [];
  const send: typeof requestJson = async (_, { url }) => {
    const { host, origin } = new URL(url);
    asked.push({ host, at: Date.now() - 1_000_000 });
    return answers[`${origin}/v1`]!.shift()!();
  };
  const note = (line: string) => notes.push(line);
  const endpoints = new Endpoints({ urls: Object.keys(answers), note, ...options }, send);
  return { endpoints, asked, notes };
}

const fails = (status: number, retryAfterMs?: number) => () => {
  throw new HttpError(`got ${status}`, status, true, retryAfterMs, "status");
};
const works = () => "fine";

/** Moves the clock in small steps until a promise is settled. */
async function settle<T>(
  t: TestContext,
  promise: Promise<T>,
  limitMs: number,
): Promise<PromiseSettledResult<T>> {
  let done = false;
  promise.then(
    () => (done = true),
    () => (done = true),
  );
  for (let ms = 0; !done && ms <= limitMs; ms += 50) {
    for (let i = 0; i < 20; i++) await Promise.resolve();
    if (!done) t.mock.timers.tick(50);
  }
  assert.ok(done, `nothing was settled within ${limitMs} ms of the clock`);
  return (await Promise.allSettled([promise]))[0]!;
}

test("Endpoints refuses options that make no sense, with their names", () => {
  const wrong: [Partial<Record<keyof EndpointOptions, unknown>>, RegExp][] = [
    [
      { urls: undefined },
      /urls must be a list of one or more http or https addresses, got undefined/,
    ],
    [{ urls: a }, /urls must be a list of one or more/],
    [{ urls: [] }, /urls must be a list of one or more .*, got an empty list/],
    [{ urls: ["a.example"] }, /urls must be .* http or https addresses, got "a\.example"/],
    [{ urls: ["ftp://a.example"] }, /http or https/],
    [{ urls: [7] }, /http or https addresses, got 7/],
    [{ attempts: 0 }, /attempts must be a positive integer, got 0/],
    [{ attempts: 1.5 }, /attempts must be a positive integer, got 1\.5/],
    [{ attempts: NaN }, /attempts must be a positive integer, got NaN/],
    [{ attempts: "3" }, /attempts must be a positive integer, got "3"/],
    [{ concurrency: 0 }, /concurrency must be a positive integer/],
    [{ concurrency: Infinity }, /concurrency must be a positive integer, got Infinity/],
    [{ maxBytes: -1 }, /maxBytes must be a positive integer, got -1/],
    [{ backoffMs: -1 }, /backoffMs must be milliseconds below 2\^31, got -1/],
    [{ timeoutMs: 0 }, /timeoutMs must be milliseconds below 2\^31, got 0/],
    [{ timeoutMs: 2 ** 31 }, /timeoutMs must be milliseconds below 2\^31/],
    [{ longestWaitMs: NaN }, /longestWaitMs must be milliseconds/],
    [{ apiKeyEnv: "" }, /apiKeyEnv must be the name of an environment variable/],
    [{ onFault: true }, /onFault must be a function, got true/],
    [{ note: "x" }, /note must be a function, got "x"/],
    [{ doing: "" }, /doing must be text/],
  ];
  for (const [options, message] of wrong) {
    assert.throws(
      () => new Endpoints({ urls: [a], ...options } as EndpointOptions),
      (error: Error) => error.message.startsWith("Cannot ") && message.test(error.message),
      JSON.stringify(options),
    );
  }
  assert.throws(() => new Endpoints({ urls: ["x?key=secret"] }), { message: /got "x"$/ });
});

test("Endpoints waits twice as long before every further attempt", async (t) => {
  const script = { [a]: [fails(500), fails(500), fails(500), works] };
  const { endpoints, asked } = scripted(t, script, { backoffMs: 200 });
  const result = await settle(t, endpoints.get("models"), 5000);
  assert.equal(result.status, "fulfilled");
  assert.deepEqual(
    asked.map(({ at }) => at),
    [0, 200, 600, 1400],
  );
});

test("Endpoints waits as long as it is asked to, and says so where that is long", async (t) => {
  const script = { [a]: [fails(429, 5000), fails(429, 60_000), works] };
  const { endpoints, asked, notes } = scripted(t, script);
  assert.equal((await settle(t, endpoints.get("models"), 70_000)).status, "fulfilled");
  assert.deepEqual(
    asked.map(({ at }) => at),
    [0, 5000, 65_000],
  );
  assert.deepEqual(notes, ["arpo-lab: http://a.example/v1 asks to be left alone for 60 s"]);
});

test("Endpoints does not wait for an hour, but says who asked for that", async (t) => {
  const { endpoints, asked, notes } = scripted(t, { [a]: [fails(429, 3_600_000)] });
  const first = await settle(t, endpoints.get("models"), 1000);
  assert.match(String((first as PromiseRejectedResult).reason), /got 429/);
  const second = await settle(t, endpoints.get("models"), 1000);
  assert.match(
    String((second as PromiseRejectedResult).reason),
    /http:\/\/a\.example\/v1 asked to be left alone for another 36\d\d s, and at most 120 s are waited/,
  );
  assert.equal(asked.length, 1);
  assert.match(notes[0]!, /for 3600 s/);
});

test("Endpoints asks another at once while one asks to be left alone", async (t) => {
  const script = { [a]: [fails(429, 3_600_000)], [b]: [works, works, works] };
  const { endpoints, asked } = scripted(t, script);
  for (let i = 0; i < 3; i++) {
    assert.equal((await settle(t, endpoints.get("models"), 1000)).status, "fulfilled");
  }
  assert.deepEqual(
    asked.map(({ host, at }) => `${host} ${at}`),
    ["a.example 0", "b.example 0", "b.example 0", "b.example 0"],
  );
});

test("an answer that cannot be read is the endpoint's failure", async (t) => {
  const script = { [a]: [() => "nonsense", works] };
  const { endpoints } = scripted(t, script);
  const read = (answer: unknown) => {
    if (answer !== "fine") throw new Error(`${String(answer)}?key=secret`);
    return 42;
  };
  const result = await settle(t, endpoints.post("x", {}, { read }), 5000);
  assert.equal((result as PromiseFulfilledResult<number>).value, 42);
  const [health] = endpoints.health();
  assert.deepEqual([health!.failed, health!.succeeded], [1, 1]);
});

test("Endpoints stops waiting when its caller does", async (t) => {
  const { endpoints } = scripted(t, { [a]: [fails(503, 60_000)] });
  const stop = new AbortController();
  const asked = endpoints.get("models", { signal: stop.signal });
  for (let i = 0; i < 20; i++) await Promise.resolve();
  stop.abort(new Error("enough"));
  await assert.rejects(asked, /enough/);
});
