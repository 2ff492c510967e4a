import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Json, Message } from "../../kernel/wire/message.js";
import { Gate } from "../gate.js";
import { begun, FrontEnd, held, isState } from "./front-end.js";

let kernel: FrontEnd;
before(async () => {
  kernel = await FrontEnd.start();
});
after(() => kernel.close());

/** Without the reminders that a cell is still running, which follow the answer to anything else. */
const told = (messages: Message[]): Message[] =>
  messages.filter((m, i) => i === 0 || !isState(m, "busy"));
const types = (messages: Message[]): string[] => told(messages).map((m) => m.header.msg_type);

test("execute_request answers with busy, input, result and idle, in that order", async () => {
  const { reply, messages, result } = await kernel.execute("1 + 1");
  assert.deepEqual(types(messages), ["status", "execute_input", "execute_result", "status"]);
  assert.deepEqual(result, { "text/plain": "2" });
  assert.equal(reply.status, "ok");
  const [, input, value] = told(messages);
  assert.equal(input!.content.code, "1 + 1");
  assert.equal(input!.content.execution_count, reply.execution_count);
  assert.equal(value!.content.execution_count, reply.execution_count);
});

test("execute_request counts cells that are kept, and neither silent nor empty ones", async () => {
  const count = async (code: string, options?: Json): Promise<number> =>
    (await kernel.execute(code, options)).reply.execution_count as number;
  const first = await count("1");
  assert.equal(await count("2"), first + 1);
  assert.equal(await count("3", { silent: true }), first + 1);
  assert.equal(await count("  \n"), first + 1);
  assert.equal(await count("3.5", { store_history: false }), first + 1);
  assert.equal(await count("4"), first + 2);
});

test("a stack trace names a cell that was not kept by a name of its own", async () => {
  await kernel.execute("function fails() {\n  throw new Error('kept')\n}");
  await kernel.execute("1\n2\n3", { store_history: false });
  const { error } = await kernel.execute("fails()", { store_history: false });
  assert.match(error!.traceback.join("\n"), /fails \(cell \d+, line 2:9\)/);
});

test("a text that is too long for a cell is refused, and the next cell does not wait", async () => {
  const { error, reply } = await kernel.execute(`/*${"a\n".repeat(50_000_000)}*/ 1`);
  assert.equal(reply.status, "error");
  assert.match(error!.evalue, /it may have 16,777,216 characters, got 100,000,006/);
  const { ms, result } = await kernel.execute("1 + 1");
  assert.deepEqual(result, { "text/plain": "2" });
  assert.ok(ms < 5000, `${ms} ms`);
});

test("execute_request with silent shows no value and no input", async () => {
  const { messages, reply } = await kernel.execute("let quiet = 7; quiet", { silent: true });
  assert.deepEqual(types(messages), ["status", "status"]);
  assert.equal(reply.status, "ok");
  assert.deepEqual((await kernel.execute("quiet")).result, { "text/plain": "7" });
});

test("execute_request evaluates user_expressions, each with its own outcome", async () => {
  const { reply } = await kernel.execute("let base = 20", {
    user_expressions: {
      double: "base * 2",
      type: "missing",
      thrown: "(() => { throw new RangeError('no') })()",
    },
  });
  const expressions = reply.user_expressions as Record<string, Json>;
  assert.deepEqual(expressions.double, {
    status: "ok",
    data: { "text/plain": "40" },
    metadata: {},
  });
  assert.equal(expressions.type?.status, "error");
  assert.match(String(expressions.type?.evalue), /Cannot find name 'missing'/);
  assert.equal(expressions.thrown?.ename, "RangeError");
});

test("execute_request reports an error with the cell's lines", async () => {
  await kernel.execute(
    "function fails(n: number): number {\n  if (n > 1) throw new RangeError('too many');\n  return n;\n}",
  );
  const { reply, error, messages } = await kernel.execute("const before = 1;\n\nfails(2);");
  assert.equal(reply.status, "error");
  assert.equal(error?.ename, "RangeError");
  assert.equal(error.evalue, "too many");
  assert.deepEqual(reply.traceback, error.traceback);
  const count = reply.execution_count as number;
  const text = error.traceback.join("\n").replace(/\u001b\[\d+m/g, "");
  assert.match(text, new RegExp(`at fails \\(cell ${count - 1}, line 2:20\\)`));
  assert.match(text, new RegExp(`at cell ${count}, line 3:\\d`));
  assert.match(text, /> 2 {3}if \(n > 1\) throw new RangeError/);
  assert.ok(!/kernel\/run|node:internal/.test(text), "the kernel's own frames are left out");
  assert.ok(isState(messages.at(-1)!, "idle"));
});

test("execute_request reports a type error with its line, and runs nothing", async () => {
  const { error, text } = await kernel.execute("console.log('ran');\nconst wrong: number = 'a';");
  assert.equal(text, "");
  assert.match(
    error?.evalue ?? "",
    /^TS2322: Type 'string' is not assignable to type 'number'\. \(line 2:7\)$/,
  );
});

test("execute_request tells of a wrong call in one line, and of the rest behind a disclosure", async () => {
  const declared =
    "function f(n: number, o?: { size: number }): void;\nfunction f(n: string): void;\nfunction f(): void {}\n";
  const { error, messages } = await kernel.execute(`${declared}f(1, { sise: 2 }); f(true);`);
  const lines = error!.traceback.map((line) => line.replace(/\u001b\[\d+m/g, ""));
  assert.ok(
    lines.includes(
      "TS2353: Cannot call f: there is no sise; accepted are size. Did you mean size?",
    ),
  );
  assert.ok(lines.includes("TS2769: Cannot call f: n must be number or string, got boolean"));
  const more = messages.find((m) => m.header.msg_type === "display_data")?.content.data as Record<
    string,
    string
  >;
  assert.match(more["text/html"]!, /^<details>.*Overload 2 of 2.*<\/details>$/s);
  assert.match(more["text/plain"]!, /^[^\n]*%%check full[^\n]*$/);
  const full = await kernel.execute(`%%check full\n${declared}f(true);`);
  assert.match(full.error?.evalue ?? "", /Overload 2 of 2/);
});

test("execute_request reports values thrown that are no errors, and causes", async () => {
  const thrown = await kernel.execute("throw { code: 3 }");
  assert.equal(thrown.error?.evalue, '{"code":3}');
  const caused = await kernel.execute(
    "throw new Error('outer', { cause: new TypeError('inner') })",
  );
  assert.match(caused.error?.traceback.join("\n") ?? "", /caused by[^]*TypeError: inner/);
});

test("execute_request aborts what was queued behind a cell that fails", async () => {
  const gate = await Gate.open();
  const failing = kernel.start(`${gate.here} throw new Error('stop')`);
  const queued = [kernel.start("'never'"), kernel.start("'never'")];
  gate.pass();
  assert.equal((await failing.finished).reply.status, "error");
  for (const { finished } of queued) assert.equal((await finished).reply.status, "aborted");
  await gate.close();
  const after = await kernel.execute("'runs'");
  assert.equal(after.reply.status, "ok");
});

test("execute_request goes on behind a failing cell that says so", async () => {
  const failing = kernel.start("throw new Error('go on')", { stop_on_error: false });
  const queued = kernel.start("'ran'");
  assert.equal((await failing.finished).reply.status, "error");
  assert.deepEqual((await queued.finished).result, { "text/plain": "'ran'" });
});

test("kernel_info_request, is_complete_request and debug_request are answered while a cell runs", async () => {
  const running = kernel.start(held);
  await kernel.begun(running.id);
  const info = await kernel.request("shell", "kernel_info_request");
  assert.equal(info.content.protocol_version, "5.5");
  assert.equal((info.content.language_info as Json).name, "typescript");
  assert.deepEqual(info.content.supported_features, ["kernel subshells", "debugger"]);
  const complete = await kernel.request("shell", "is_complete_request", { code: "if (1) {" });
  assert.equal(complete.content.status, "incomplete");
  const debug = await kernel.request("control", "debug_request", {
    type: "request",
    command: "dance",
    seq: 4,
  });
  assert.deepEqual(
    [debug.header.msg_type, debug.content.success, debug.content.request_seq],
    ["debug_reply", false, 4],
  );
  assert.equal(running.messages.filter((m) => isState(m, "idle")).length, 0, "it still runs");
  kernel.release();
  await running.finished;
});

test("an unknown request is answered with an error", async () => {
  const { content } = await kernel.request("shell", "dance_request", {});
  assert.equal(content.status, "error");
});

test("the heart beats while a cell computes", async () => {
  const running = kernel.start(`${begun} for (;;);`);
  await kernel.begun(running.id);
  await kernel.beat();
  assert.equal(running.messages.filter((m) => isState(m, "idle")).length, 0, "it still runs");
  await kernel.request("control", "interrupt_request");
  assert.equal((await running.finished).error?.ename, "InterruptError");
});
