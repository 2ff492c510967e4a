import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { until } from "../until.js";
import { begun, FrontEnd } from "./front-end.js";

let kernel: FrontEnd;
const folder = mkdtempSync(join(tmpdir(), "arpo-interrupt-"));
before(async () => {
  const spinner = join(folder, "node_modules", "spinner");
  mkdirSync(spinner, { recursive: true });
  writeFileSync(
    join(spinner, "package.json"),
    '{"name":"spinner","type":"module","main":"index.js"}',
  );
  writeFileSync(
    join(spinner, "index.js"),
    "export function spin() { for (;;); }\nexport async function later() { await null; spin(); }\n" +
      "export async function forever() { for (;;) await null; }\n" +
      "export function stubborn() { for (;;) { try { spin(); } catch {} } }\n",
  );
  writeFileSync(join(folder, "local.ts"), "export function spin(): never { for (;;); }\n");
  kernel = await FrontEnd.start({ cwd: folder });
  await kernel.execute("let kept = 41;");
});
after(async () => {
  await kernel.close();
  rmSync(folder, { recursive: true });
});

const spinner = "// @ts-nocheck\nimport * as spinner from 'spinner';\n";

const cases: Record<string, string> = {
  "a loop": "while (true) {}",
  "a loop that catches everything": "for (;;) { try { JSON.parse('{') } catch {} }",
  // slow: what is interrupted
  "a long await": "await new Promise((r) => setTimeout(r, 60000))",
  "a loop after an await": "await null; for (;;) {}",
  "a loop after a timer": "await new Promise((r) => setTimeout(r, 5)); for (;;) {}",
  "awaits without end": "for (;;) await null;",
  "a function of the cell": "const f = (n: number): number => { for (;;) n++ }; f(1)",
  "a display method": "({ [Symbol.for('Jupyter.display')]() { for (;;); } })",
  recursion: "const g = (n: number): number => n < 1 ? 0 : g(n - 1) + g(n - 2); g(90)",
  "an imported file": "import { spin } from './local.js'; spin()",
  "a package": `${spinner}spinner.spin()`,
  "a package after an await": `${spinner}await spinner.later()`,
  "a package that awaits without end": `${spinner}await spinner.forever()`,
  "a package that catches": `${spinner}spinner.stubborn()`,
  "a regular expression": "/^(a+)+$/.test('a'.repeat(40) + 'b')",
  "a blocking wait": "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)",
};

for (const how of ["message", "signal"] as const) {
  for (const [name, code] of Object.entries(cases)) {
    test(`an interrupt by ${how} ends ${name} and keeps the state`, async () => {
      const running = kernel.start(`${begun}\n${code}`);
      // An interrupt that comes before the cell has nothing to end.
      await kernel.begun(running.id);
      if (how === "signal") kernel.process.kill("SIGINT");
      else
        assert.equal((await kernel.request("control", "interrupt_request")).content.status, "ok");
      const { reply, error } = await running.finished;
      assert.equal(reply.status, "error");
      assert.equal(error?.ename, "InterruptError");
      const next = await kernel.execute("kept + 1");
      assert.deepEqual(next.result, { "text/plain": "42" });
      // Promises, timers and output still work.
      const more = await kernel.execute(
        "await new Promise((r) => setTimeout(r, 5)); console.log('well')",
      );
      assert.equal(more.text, "well\n");
    });
  }
}

test(
  "an interrupt ends a child process that blocks",
  { skip: process.platform !== "linux" },
  async () => {
    await kernel.execute("import { execSync } from 'node:child_process'; 1");
    const running = kernel.start(`${begun} execSync('sleep 3000')`);
    await kernel.begun(running.id);
    await kernel.request("control", "interrupt_request");
    assert.equal((await running.finished).reply.status, "error");
  },
);

test("an interrupt with nothing running changes nothing", async () => {
  const cell = "for (let i = 0; i < 3; i++); kept";
  await kernel.request("control", "interrupt_request");
  assert.deepEqual((await kernel.execute(cell)).result, { "text/plain": "41" });
  kernel.process.kill("SIGINT");
  // On a busy machine a signal arrives when it may: in this cell too, but never in a second one.
  const { result, error } = await kernel.execute(cell);
  if (error !== undefined) assert.equal(error.ename, "InterruptError");
  else assert.deepEqual(result, { "text/plain": "41" });
  const shown = await until(
    async () => (await kernel.execute(cell)).result,
    "a cell to run through",
  );
  assert.deepEqual(shown, { "text/plain": "41" });
});

test("an interrupted loop does not go on in the background, and its functions go on working", async () => {
  await kernel.execute("let turns = 0; const pause = () => new Promise((r) => setTimeout(r, 5));");
  const running = kernel.start(
    "function twice(n: number) { let m = 0; for (let i = 0; i < 2; i++) m += n; return m; }\n" +
      `for (;;) { await pause(); if (++turns === 3) { ${begun} } }`,
  );
  await kernel.begun(running.id);
  await kernel.request("control", "interrupt_request");
  assert.equal((await running.finished).reply.status, "error");
  const seen = await kernel.execute(
    "const seen = turns; for (let i = 0; i < 12; i++) await pause(); turns - seen <= 1",
  );
  assert.deepEqual(seen.result, { "text/plain": "true" });
  assert.deepEqual((await kernel.execute("twice(4)")).result, { "text/plain": "8" });
});

test("an interrupt runs finally blocks of the cell and aborts its signal", async () => {
  await kernel.execute(
    "let cleaned = ''; const host = (globalThis as any)[Symbol.for('arpo-lab.kernel.host')];",
  );
  const running = kernel.start(
    "host.cell().signal.addEventListener('abort', () => { cleaned += 'signal ' });\n" +
      `try { ${begun} while (true) {} } finally { cleaned += 'finally ' }`,
  );
  await kernel.begun(running.id);
  await kernel.request("control", "interrupt_request");
  await running.finished;
  assert.deepEqual((await kernel.execute("cleaned")).result, { "text/plain": "'finally signal '" });
});

test("an interrupt aborts the cells queued behind", async () => {
  const running = kernel.start(`${begun} while (true) {}`);
  const queued = kernel.start("'never'");
  await kernel.begun(running.id);
  await kernel.request("control", "interrupt_request");
  await running.finished;
  assert.equal((await queued.finished).reply.status, "aborted");
});

test("a file that an interrupt left open is no news in a cell; one that a cell forgets is", async () => {
  const own = await FrontEnd.start({ cwd: folder });
  try {
    await own.execute(
      "import { open } from 'node:fs/promises';\nimport { setFlagsFromString } from 'node:v8';\n" +
        "import { runInNewContext } from 'node:vm';\nsetFlagsFromString('--expose-gc');\n" +
        "const gc = runInNewContext('gc') as () => void;\n" +
        "const forget = async () => { await open('/dev/null'); };",
    );
    const late =
      "await forget();\nfor (let i = 0; i < 3; i++) { await new Promise((r) => setTimeout(r, 5)); gc(); }";
    const shown = async () => (await own.execute(late)).text;
    assert.match(await shown(), /Closing file descriptor \d+ on garbage collection/);
    await own.request("control", "interrupt_request");
    assert.equal(await shown(), "");
  } finally {
    await own.close();
  }
});
