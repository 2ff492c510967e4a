import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Gate } from "../gate.js";
import { begun, FrontEnd } from "./front-end.js";

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
  const gate = await Gate.open();
  const { id, finished } = kernel.start(
    `void (async () => { ${gate.here} throw new SyntaxError('rejected') })(); 1`,
  );
  await finished;
  await kernel.execute("1 + 1");
  gate.pass();
  const shown = await kernel.shown(
    (m) => m.header.msg_type === "error" && m.content.ename === "SyntaxError",
  );
  await gate.close();
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
  const running = other.start(`${begun} for (;;);`);
  running.finished.catch(() => undefined);
  await other.begun(running.id);
  const reply = await other.request("control", "shutdown_request", { restart: true });
  assert.deepEqual(reply.content, { status: "ok", restart: true });
  await other.exited;
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

test("a cell that deletes its working directory is followed by others", async () => {
  const other = await FrontEnd.start();
  await other.execute(
    "import { mkdtempSync, rmSync } from 'node:fs'; import { tmpdir } from 'node:os'; let kept = 1;\n" +
      "const gone = mkdtempSync(`${tmpdir()}/gone-`); process.chdir(gone); rmSync(gone, { recursive: true });",
  );
  assert.deepEqual((await other.execute("kept + 1")).result, { "text/plain": "2" });
  assert.match((await other.execute("process.cwd()")).error?.evalue ?? "", /ENOENT/);
  await other.execute("process.chdir('/')");
  assert.deepEqual((await other.execute("process.cwd()")).result, { "text/plain": "'/'" });
  await other.close();
});

test("a cell that closes all handles of its process is followed by others", async () => {
  const other = await FrontEnd.start({ language: "javascript" });
  const close =
    "for (const handle of process._getActiveHandles()) handle.close?.(); let kept = 1; 0";
  assert.deepEqual((await other.execute(close)).result, { "text/plain": "0" });
  assert.deepEqual((await other.execute("kept + 1")).result, { "text/plain": "2" });
  await other.close();
});

test("a cell imports a module after one has replaced what the kernel waits with", async () => {
  const patches = [
    "Map.prototype.get = () => 1",
    "Map.prototype.set = function () { return this }",
    "Map.prototype.delete = () => { throw 1 }",
    "Reflect.deleteProperty = () => { throw 1 }",
    "Set.prototype.add = () => { throw 1 }",
  ];
  for (const patch of patches) {
    const other = await FrontEnd.start({ language: "javascript" });
    try {
      await other.execute(`${patch}; 1`);
      const { result } = await other.execute('(await import("node:os")).EOL.length');
      assert.deepEqual(result, { "text/plain": "1" }, patch);
    } finally {
      await other.close();
    }
  }
});

test("what a cell has replaced is its own: the kernel runs on, and later cells still have it", async () => {
  const other = await FrontEnd.start({ language: "javascript" });
  try {
    await other.execute("let kept = 1; const own = {};");
    const names = [
      ...["Promise.prototype.then", "Promise.resolve", "Promise.race", "Array.prototype.some"],
      ...[
        "Array.prototype.push",
        "Array.prototype.join",
        "Array.prototype.includes",
        "JSON.stringify",
      ],
      ...["Map.prototype.get", "Map.prototype.set", "Reflect.get", "Set.prototype.has"],
      ...["String.prototype.startsWith", "String.prototype.slice", "Object.keys", "setTimeout"],
    ];
    for (const name of names) {
      for (const how of ["() => { throw new Error('replaced') }", "function () { return this; }"]) {
        const code = `own["${name}"] ??= ${name}; ${name} = ${how}; 1`;
        const what = `${name} = ${how}`;
        assert.equal((await other.execute(code)).reply.status, "ok", what);
        assert.deepEqual((await other.execute("kept + 1")).result, { "text/plain": "2" }, what);
        const { result } = await other.execute("({ a: Promise.prototype })");
        assert.match(String(result?.["text/plain"]), /^{ a: /, what);
        const kept = await other.execute(`${name} !== own["${name}"]`);
        assert.deepEqual(kept.result, { "text/plain": "true" }, what);
        await other.execute(`${name} = own["${name}"]`);
      }
    }
  } finally {
    await other.close();
  }
});

const patient = { timeout: 240_000 };
const takings: [string, string, RegExp | undefined][] = [
  ["all listeners of the process", "process.removeAllListeners()", undefined],
  ["its listeners for messages", 'process.removeAllListeners("message")', undefined],
  [
    "its listeners for uncaught errors",
    'for (const listener of process.listeners("uncaughtException")) process.off("uncaughtException", listener)',
    undefined,
  ],
  ["the process", "globalThis.process = undefined", /^process was taken away .* and put back/],
  ["timers", "globalThis.setTimeout = undefined", /^setTimeout was taken away/],
  ["immediates", "globalThis.setImmediate = null", /^setImmediate was taken away/],
  ["the console", "globalThis.console = null", /^console was taken away/],
  ["performance", "globalThis.performance = undefined", /^performance was taken away/],
  [
    "iteration",
    "Array.prototype[Symbol.iterator] = undefined",
    /^Array\.prototype\[Symbol\.iterator\] was taken away/,
  ],
  ["maps", "delete Map.prototype.get; delete Map.prototype.set", /^Map\.prototype\.get, Map/],
];

for (const [what, code, said] of takings) {
  test(
    `a kernel whose cell takes away ${what} runs on, and is interrupted as before`,
    patient,
    async () => {
      const victim = await FrontEnd.start({ language: "javascript" });
      try {
        await victim.execute("let kept = 41");
        const taken = await victim.execute(`${code}; 1`);
        assert.equal(taken.reply.status, "ok", JSON.stringify(taken.error));
        if (said === undefined) assert.equal(taken.text, "");
        else assert.match(taken.text, said);
        assert.deepEqual((await victim.execute("kept + 1")).result, { "text/plain": "42" });
        assert.equal((await victim.execute("console.log('said')")).text, "said\n");
        const running = victim.start(`${code}; ${begun} for (;;);`);
        await victim.begun(running.id);
        await victim.request("control", "interrupt_request");
        assert.equal((await running.finished).error?.ename, "InterruptError");
        assert.deepEqual((await victim.execute("[kept, ...[2]]")).result, {
          "text/plain": "[ 41, 2 ]",
        });
      } finally {
        await victim.close();
      }
    },
  );
}

test("a cell that begins with lines of slashes, or of blanks, runs at once", async () => {
  const kernel = await FrontEnd.start();
  try {
    for (const head of [`${"/".repeat(80)}\n`, "// \n".repeat(2000), " ".repeat(100_000)]) {
      const { result } = await kernel.execute(`${head}40 + 2`);
      assert.equal(result?.["text/plain"], "42");
    }
  } finally {
    await kernel.close();
  }
});
