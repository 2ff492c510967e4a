import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { FrontEnd } from "./front-end.js";

let kernel: FrontEnd;
before(async () => {
  kernel = await FrontEnd.start();
});
after(() => kernel.close());

test("process.exit() ends the cell, and the kernel keeps its variables", async () => {
  const { reply, error, text } = await kernel.execute(
    "let left = 5; console.log('a'); process.exit(3)",
  );
  assert.equal(reply.status, "error");
  assert.equal(text, "a\n");
  assert.equal(error?.ename, "ExitError");
  assert.match(error.evalue, /^process\.exit\(3\) ends this cell, not the kernel/);
  assert.deepEqual((await kernel.execute("left")).result, { "text/plain": "5" });
});

test("an exception in a timer is shown in the cell that set it", async () => {
  const { id, finished } = kernel.start(
    "setTimeout(() => { throw new RangeError('in a timer') }, 100); 'set'",
  );
  assert.equal((await finished).reply.status, "ok");
  await kernel.execute("1 + 1");
  const shown = await kernel.shown(
    (m) => m.header.msg_type === "error" && m.content.ename === "RangeError",
  );
  assert.equal(shown.parent.msg_id, id);
  assert.match((shown.content.traceback as string[]).join("\n"), /cell \d+, line 1/);
  assert.equal((await kernel.execute("2")).reply.status, "ok");
});

test("an unhandled rejection is shown in the cell that made the promise", async () => {
  const { id, finished } = kernel.start(
    "void (async () => { await new Promise((r) => setTimeout(r, 80)); throw new SyntaxError('rejected') })(); 1",
  );
  await finished;
  await kernel.execute("1 + 1");
  const shown = await kernel.shown(
    (m) => m.header.msg_type === "error" && m.content.ename === "SyntaxError",
  );
  assert.equal(shown.parent.msg_id, id);
  assert.equal((await kernel.execute("3")).reply.status, "ok");
});

test("an exception in an event handler leaves the kernel alive", async () => {
  await kernel.execute(
    "import { EventEmitter } from 'node:events'; const e = new EventEmitter(); setTimeout(() => e.emit('error', new Error('emitted')), 10)",
  );
  await kernel.shown((m) => m.header.msg_type === "error" && m.content.evalue === "emitted");
  assert.equal((await kernel.execute("4")).reply.status, "ok");
});

test("a stack overflow is an error like any other", async () => {
  const { error } = await kernel.execute(
    "const deep = (n: number): number => deep(n + 1) + 1; deep(0)",
  );
  assert.equal(error?.ename, "RangeError");
  assert.equal((await kernel.execute("5")).reply.status, "ok");
});

test("shutdown_request is answered and ends the process, also while a cell computes", async () => {
  const other = await FrontEnd.start({ language: "javascript" });
  other.start("for (;;);").finished.catch(() => undefined);
  await new Promise((r) => setTimeout(r, 300));
  const reply = await other.request("control", "shutdown_request", { restart: true });
  assert.deepEqual(reply.content, { status: "ok", restart: true });
  const since = performance.now();
  await other.exited;
  assert.ok(performance.now() - since < 2000);
  await other.close();
});

test("a kernel killed with -9 is gone; a new one starts on the same ports", async () => {
  const first = await FrontEnd.start({ language: "javascript" });
  first.start("for (;;);").finished.catch(() => undefined);
  first.process.kill("SIGKILL");
  assert.equal((await first.exited).signal, "SIGKILL");
  await first.close();
  const second = await FrontEnd.start({ language: "javascript", connection: first.connection });
  assert.deepEqual((await second.execute("6 * 7")).result, { "text/plain": "42" });
  await second.close();
  assert.equal((await second.exited).code, 0);
});
