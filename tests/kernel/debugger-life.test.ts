// Errors, pauses, interrupts, the end: one kernel, whose state is kept from case to case.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { DebugClient } from "./debug-client.js";
import { begun } from "./front-end.js";

let client: DebugClient;
before(async () => {
  client = await DebugClient.start();
  await client.kernel.execute("let kept = 41;");
});
after(() => client.close());

const start = (code: string) => client.kernel.start(code);
const errors = async (...filters: string[]) =>
  await client.ask("setExceptionBreakpoints", { filters });
const isKept = async () => {
  assert.deepEqual((await client.kernel.execute("kept + 1")).result, { "text/plain": "42" });
};

test("an error that nobody catches is stopped at, where it is thrown", async () => {
  await errors("uncaught");
  const running = start(
    "const inner = (n: number) => {\n  if (n > 1) throw new RangeError('too far');\n};\ninner(2);",
  );
  const stop = await client.stopped();
  assert.deepEqual(
    [stop.reason, stop.text, stop.at[0]],
    ["exception", "RangeError: too far", "inner:2"],
  );
  assert.equal(await client.evaluate("n", stop.frameId), "2");
  const info = await client.ask<Record<string, string>>("exceptionInfo", { threadId: 1 });
  assert.deepEqual([info["exceptionId"], info["breakMode"]], ["RangeError", "unhandled"]);
  const { error } = await client.finish(running);
  assert.equal(error?.evalue, "too far");
  await isKept();
});

test("so is one after an await, and one of a function that is awaited", async () => {
  const running = start(
    "await null;\nconst f = async () => {\n  await null;\n  throw new Error('later');\n};\nawait f();",
  );
  const stop = await client.stopped();
  assert.deepEqual([stop.reason, stop.at[0]], ["exception", "f:4"]);
  assert.equal((await client.finish(running)).error?.evalue, "later");
});

test("an error that the cell catches is stopped at only where all are", async () => {
  const code =
    "let caught = '';\ntry {\n  await null;\n  throw new Error('mine');\n} catch (e) {\n  caught = (e as Error).message;\n}\ncaught";
  assert.deepEqual((await client.kernel.execute(code)).result, { "text/plain": "'mine'" });
  await errors("all");
  const running = start(code);
  const stop = await client.stopped();
  assert.deepEqual([stop.reason, stop.line], ["exception", 4]);
  const { breakMode } = await client.ask<{ breakMode: string }>("exceptionInfo", { threadId: 1 });
  assert.equal(breakMode, "always");
  assert.deepEqual((await client.finish(running)).result, { "text/plain": "'mine'" });
  await errors();
  assert.equal(
    (await client.kernel.execute("throw new Error('no stop')")).error?.evalue,
    "no stop",
  );
});

test("a busy loop is paused, looked at and let go on", async () => {
  const running = start(
    `let rounds = 0; let stopIt = false;\n${begun}\nwhile (!stopIt) {\n  rounds++;\n}\nrounds > 0`,
  );
  await client.kernel.begun(running.id);
  await client.ask("pause", { threadId: 1 });
  const stop = await client.stopped();
  assert.equal(stop.reason, "pause");
  assert.equal(await client.evaluate("rounds > 0", stop.frameId), "true");
  await client.evaluate("stopIt = true", stop.frameId);
  assert.deepEqual((await client.finish(running)).result, { "text/plain": "true" });
});

test("a pause while nothing runs stops the next cell at its first line", async () => {
  await client.ask("pause", { threadId: 1 });
  const running = start("const one = 1;\nconst two = one + 1;\ntwo");
  const stop = await client.stopped();
  assert.deepEqual([stop.reason, stop.line], ["pause", 1]);
  assert.equal((await client.go("next")).line, 2);
  assert.equal((await client.go("next")).line, 3);
  assert.deepEqual((await client.finish(running)).result, { "text/plain": "2" });
  assert.deepEqual((await client.kernel.execute("two + 1")).result, { "text/plain": "3" });
});

test("a pause waits for a cell that has a line to stop at", async () => {
  await client.ask("pause", { threadId: 1 });
  const types = "interface Empty { a: number }";
  assert.equal((await client.kernel.execute(types)).reply["status"], "ok");
  const running = start("const three = 3;\nthree");
  const stop = await client.stopped();
  assert.deepEqual([stop.reason, stop.line], ["pause", 1]);
  assert.deepEqual((await client.finish(running)).result, { "text/plain": "3" });
});

test("a pause stops in the cell, not in a function or a loop's head that its first line has", async () => {
  const loop = "for (;;) {\n  await null;\n  break;\n}";
  const declared = "async function later() {\n  return 1;\n}\nawait later()";
  for (const [code, line, value] of [
    [loop, 2, undefined],
    [declared, 4, "1"],
  ] as const) {
    await client.ask("pause", { threadId: 1 });
    const running = start(code);
    const stop = await client.stopped();
    assert.deepEqual([stop.reason, stop.line, stop.frames.length], ["pause", line, 1]);
    assert.equal((await client.finish(running)).result?.["text/plain"], value);
  }
});

test("a step over the last line ends the cell", async () => {
  await client.ask("pause", { threadId: 1 });
  const running = start("kept");
  await client.stopped();
  await client.ask("next", { threadId: 1 });
  assert.deepEqual((await running.finished).result, { "text/plain": "41" });
});

test("an interrupt ends a cell that stands, and keeps the state and the debugger", async () => {
  const code = "let i = 0;\nfor (;;) {\n  i++;\n}";
  await client.breakAt(code, { line: 3, hitCondition: "5" });
  const running = start(code);
  await client.stopped();
  const { content } = await client.kernel.request("control", "interrupt_request");
  assert.equal(content["status"], "ok");
  const { error } = await running.finished;
  assert.equal(error?.ename, "InterruptError");
  await isKept();
  await client.breakAt(code);
  const again = "const after = kept;\nafter";
  await client.breakAt(again, 2);
  const next = start(again);
  assert.equal((await client.stopped()).line, 2);
  assert.deepEqual((await client.finish(next)).result, { "text/plain": "41" });
  await client.breakAt(again);
});

test("an interrupt of a cell that stands runs none of the lines that were left", async () => {
  const code = "let passed = 1;\npassed = 2;\npassed = 3;";
  await client.breakAt(code, 2);
  const running = start(code);
  await client.stopped();
  await client.kernel.request("control", "interrupt_request");
  assert.equal((await running.finished).error?.ename, "InterruptError");
  assert.deepEqual((await client.kernel.execute("passed")).result, { "text/plain": "1" });
  await client.breakAt(code);
});

test("an interrupt is no error to stop at", async () => {
  await errors("all");
  const running = start(`${begun}\nfor (;;) {}`);
  await client.kernel.begun(running.id);
  await client.kernel.request("control", "interrupt_request");
  assert.equal((await running.finished).error?.ename, "InterruptError");
  await errors();
  await isKept();
});

test("an interrupt ends an expression that does not end", async () => {
  const code = "const at = 1;\nat";
  await client.breakAt(code, 2);
  const running = start(code);
  const stop = await client.stopped();
  const asked = client.response("evaluate", {
    expression: "(() => { for (;;); })()",
    frameId: stop.frameId,
  });
  const interrupt = client.kernel.request("control", "interrupt_request");
  assert.equal((await asked)["success"], false);
  await interrupt;
  assert.equal((await running.finished).reply["status"], "error");
  await client.breakAt(code);
  await isKept();
});

test("cells that wait for one that stands run when it has gone on", async () => {
  const code = "const first = 1;\nfirst";
  await client.breakAt(code, 2);
  const running = start(code);
  const next = start("first + 1");
  await client.stopped();
  await client.finish(running);
  assert.deepEqual((await next.finished).result, { "text/plain": "2" });
  await client.breakAt(code);
});

test("steps stay with their function where others run between", async () => {
  const code = `const worker = async (id: number) => {
  let n = id;
  await new Promise((r) => setTimeout(r, 2));
  n += 10;
  return n;
};
(await Promise.all([worker(1), worker(2), worker(3)])).join()`;
  await client.breakAt(code, { line: 2, condition: "id === 2" });
  const running = start(code);
  await client.stopped();
  for (const line of [3, 4, 5]) {
    const stop = await client.go("next");
    assert.deepEqual([stop.line, await client.evaluate("id", stop.frameId)], [line, "2"]);
  }
  assert.deepEqual((await client.finish(running)).result, { "text/plain": "'11,12,13'" });
  await client.breakAt(code);
});

test("requests that make no sense are refused, and say why", async () => {
  assert.match(await client.refusal("flyToTheMoon"), /does not know it/);
  assert.match(
    await client.refusal("setBreakpoints", { source: {} }),
    /source\.path must be given/,
  );
  assert.match(
    await client.refusal("setBreakpoints", { source: { path: "/x" }, breakpoints: [{ line: 0 }] }),
    /counted from 1/,
  );
  assert.match(await client.refusal("continue"), /is running, or has ended/);
  assert.match(await client.refusal("variables", { variablesReference: 1e9 }), /gone on since/);
  assert.match(
    await client.refusal("source", { source: { path: "/etc/passwd" } }),
    /must be a cell, or a file that has run/,
  );
});

test("who disconnects lets the cell go on, and its breakpoints are gone", async () => {
  const code = "let sum = 0;\nfor (let i = 0; i < 4; i++) {\n  sum += i;\n}\nsum";
  await client.breakAt(code, 3);
  const running = start(code);
  await client.stopped();
  await client.ask("disconnect", { restart: false, terminateDebuggee: false });
  assert.deepEqual((await running.finished).result, { "text/plain": "6" });
  const { isStarted, breakpoints, stoppedThreads } =
    await client.ask<Record<string, unknown>>("debugInfo");
  assert.deepEqual([isStarted, breakpoints, stoppedThreads], [false, [], []]);
  assert.deepEqual((await client.kernel.execute(code)).result, { "text/plain": "6" });
  assert.match(await client.refusal("pause"), /attach comes first/);
});

test("who comes back finds cells that ran meanwhile, and what a reload asks", async () => {
  const code = "const meanwhile = (n: number) => {\n  const m = n + 1;\n  return m;\n};";
  await client.kernel.execute(code);
  await client.breakAt(code, 3);
  await client.attach();
  const running = start("meanwhile(1)");
  const stop = await client.stopped();
  assert.equal(stop.at[0], "meanwhile:3");
  const info = await client.ask<{ stoppedThreads: number[]; breakpoints: unknown[] }>("debugInfo");
  assert.deepEqual([info.stoppedThreads, info.breakpoints.length], [[1], 1]);
  assert.deepEqual((await client.finish(running)).result, { "text/plain": "2" });
});

test("a kernel that stands ends when it is told to", async () => {
  const other = await DebugClient.start();
  const code = "const last = 1;\nlast";
  await other.breakAt(code, 2);
  other.kernel.start(code).finished.catch(() => undefined);
  await other.stopped();
  const { content } = await other.kernel.request("control", "shutdown_request", { restart: true });
  assert.deepEqual(content, { status: "ok", restart: true });
  await other.kernel.exited;
  await other.close();
});
