import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { ToolMetrics } from "./tool-metrics.js";
import { ToolSet } from "./tool-set.js";
import type { Tool, ToolCall, ToolResult } from "./tool.js";

type Answer = string | ToolResult | Promise<string | ToolResult>;

function tool(tag: string, execute: (input: string, call: ToolCall) => Answer): Tool {
  return { name: tag, tag, description: "", execute };
}

/** Gives the listed answers one after another; an Error is thrown. */
function scripted(tag: string, ...answers: (string | Error)[]): Tool {
  let n = 0;
  return tool(tag, () => {
    const answer = answers[n++];
    if (answer === undefined || answer instanceof Error) throw answer ?? new Error("script over");
    return answer;
  });
}

test("ToolSet.call() repeats failed attempts without delay and counts them", async () => {
  const set = new ToolSet([scripted("a", "", new Error("x"), "yes")], { retryCount: 3 });
  const outcome = await set.call("a", "in");
  assert.equal(outcome.text, "yes");
  assert.equal(outcome.retries, 2);
  assert.equal(outcome.ok, true);
  assert.equal(outcome.failure, undefined);
});

test("ToolSet.call() tells an empty answer from a failure", async () => {
  const set = new ToolSet([scripted("a", "", ""), scripted("b", "", new Error("boom"))], {
    retryCount: 2,
  });
  const empty = await set.call("a", "");
  assert.equal(empty.text, "Tool(a) returned empty output.");
  assert.equal(empty.failure?.kind, "empty");
  const broken = await set.call("b", "");
  assert.equal(broken.text, "Error: Tool(b) execution failed.");
  assert.deepEqual(broken.failure, { kind: "error", message: "boom" });
  assert.equal(broken.retries, 2);
});

test("ToolSet.call() takes an empty answer where the tool says it is one", async () => {
  const set = new ToolSet([{ ...scripted("a", ""), emptyIsAnswer: true }]);
  const outcome = await set.call("a", "");
  assert.deepEqual(
    [outcome.ok, outcome.retries, outcome.text],
    [true, 0, "Tool(a) returned empty output."],
  );
});

test("ToolSet.call() hands a call's reward on, and takes no number that is not finite", async () => {
  const paying = (reward: number): Tool => ({
    ...{ name: "pay", tag: "pay", description: "" },
    execute: () => ({ text: "done", ok: true, reward }),
  });
  assert.equal((await new ToolSet([paying(0.5)]).call("pay", "x")).reward, 0.5);
  const odd = await new ToolSet([paying(NaN)], { retryCount: 1 }).call("pay", "x");
  assert.equal(odd.reward, undefined);
  assert.match(odd.failure!.message, /reward must be a finite number, got NaN/);
});

test("ToolSet.call() gives up at once when repeating cannot help", async () => {
  let attempts = 0;
  const refused = tool("a", () => {
    attempts++;
    return { text: "", ok: false, error: "key refused", retry: false };
  });
  const outcome = await new ToolSet([refused], { retryCount: 5 }).call("a", "");
  assert.equal(attempts, 1);
  assert.deepEqual(outcome.failure, { kind: "error", message: "key refused" });
});

test("ToolSet.call() waits between attempts when asked", async () => {
  const waits: number[] = [];
  const set = new ToolSet([scripted("a", "", "", "ok")], {
    backoffMs: (attempt) => {
      waits.push(attempt);
      return 20;
    },
  });
  const { ms, ok } = await set.call("a", "");
  assert.equal(ok, true);
  assert.deepEqual(waits, [1, 2]);
  assert.ok(ms >= 39, `two waits of 20 ms took ${ms}`);
});

test("ToolSet.call() ends a call in time, even when the tool ignores its signal", async () => {
  let told = false;
  const deaf = tool("a", (_, { signal }) => {
    signal.addEventListener("abort", () => (told = true));
    return new Promise<string>(() => undefined);
  });
  const set = new ToolSet([deaf], { timeoutMs: 30, maxWorkers: 1 });
  const outcomes = await Promise.all([set.call("a", "1"), set.call("a", "2")]);
  for (const { text, failure, retries } of outcomes) {
    assert.equal(text, "Error: Tool(a) execution failed with message: no answer within 0.03 s");
    assert.equal(failure?.kind, "timeout");
    assert.equal(retries, 0);
  }
  assert.equal(told, true);
});

test("ToolSet.call() rejects when its caller stops, running or waiting", async () => {
  const set = new ToolSet([tool("a", () => sleep(10_000, "", { ref: false }))], { maxWorkers: 1 });
  const stop = new AbortController();
  const calls = [1, 2].map((n) => set.call("a", String(n), { signal: stop.signal }));
  const settled = Promise.allSettled(calls);
  stop.abort(new Error("interrupted"));
  for (const result of await settled) {
    assert.equal(result.status, "rejected");
    assert.match(String((result as PromiseRejectedResult).reason), /interrupted/);
  }
});

test("ToolSet.call() runs at most maxWorkers calls at a time", async () => {
  let running = 0;
  let most = 0;
  const slow = tool("a", async (input) => {
    most = Math.max(most, ++running);
    await sleep(5); // slow: a tool
    running--;
    return input;
  });
  const set = new ToolSet([slow], { maxWorkers: 3 });
  const inputs = Array.from({ length: 10 }, (_, i) => String(i));
  const outcomes = await Promise.all(inputs.map((i) => set.call("a", i)));
  assert.deepEqual(
    outcomes.map((o) => o.text),
    inputs,
  );
  assert.equal(most, 3);
});

test("ToolSet() refuses limits, tags and calls that make no sense", async () => {
  assert.throws(
    () => new ToolSet([], { retryCount: 0 }),
    /retryCount must be an integer of at least 1/,
  );
  assert.throws(() => new ToolSet([], { callLimit: -1 }), RangeError);
  assert.throws(() => new ToolSet([], { timeoutMs: Infinity }), /got Infinity/);
  assert.throws(() => new ToolSet([tool("a b", () => "")]), SyntaxError);
  assert.throws(() => new ToolSet([tool("a", () => ""), tool("a", () => "")]), /got a again/);
  await assert.rejects(new ToolSet([tool("a", () => "")]).call("b", ""), /one of a, got b/);
});

test("ToolSet.dispose() disposes every tool even when one fails", async () => {
  let disposed = false;
  const set = new ToolSet([
    { ...tool("a", () => ""), dispose: () => Promise.reject(new Error("stuck")) },
    { ...tool("b", () => ""), dispose: () => void (disposed = true) },
  ]);
  await assert.rejects(set.dispose(), AggregateError);
  assert.equal(disposed, true);
});

test("ToolMetrics.values() counts as the reference does", async () => {
  const set = new ToolSet(
    [scripted("search", "", "found", "", "", new Error("down")), scripted("python", "4")],
    { retryCount: 3 },
  );
  const metrics = new ToolMetrics(["search", "python", "unused"]);
  for (const tag of ["search", "search", "python"]) metrics.record(await set.call(tag, ""));
  metrics.recordLimitReached();
  const values = metrics.values();
  const expected = {
    "tools/total_calls": 3,
    "tools/successful_calls": 2,
    "tools/failed_calls": 1,
    "tools/max_retries": 3,
    "tools/total_retries": 4,
    "tools/call_limit_reached_count": 1,
    "tools/search/calls": 2,
    "tools/search/success_rate": 0.5,
    "tools/python/calls": 1,
    "tools/python/success_rate": 1,
    "tools/unused/calls": 0,
    "tools/unused/success_rate": 0,
  };
  for (const [name, value] of Object.entries(expected)) assert.equal(values[name], value, name);
  const total = values["tools/total_execution_time"]!;
  assert.equal(values["tools/avg_execution_time"], total / 3);
  assert.ok(values["tools/max_execution_time"]! <= total);
});
