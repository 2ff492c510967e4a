import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Gate } from "../gate.js";
import { until } from "../until.js";
import { FrontEnd, isState } from "./front-end.js";

let kernel: FrontEnd;
before(async () => {
  kernel = await FrontEnd.start({ language: "javascript" });
  await kernel.execute("const host = globalThis[Symbol.for('arpo-lab.kernel.host')]");
});
after(() => kernel.close());

test("console, process.stdout and process.stderr become streams, in order", async () => {
  const { messages, text } = await kernel.execute(
    "console.log('a', { b: 1 }); process.stdout.write('c'); process.stdout.write(Buffer.from('d\\n'));\n" +
      "console.error('e'); process.stderr.write('f\\n'); console.log('g')",
  );
  const streams = messages
    .filter((m) => m.header.msg_type === "stream")
    .map(({ content }) => ({ name: String(content.name), text: String(content.text) }))
    // What one stream says in a row is one text, in however many messages.
    .reduce<{ name: string; text: string }[]>((merged, { name, text: more }) => {
      const last = merged.at(-1);
      if (last?.name === name) last.text += more;
      else merged.push({ name, text: more });
      return merged;
    }, []);
  assert.deepEqual(streams, [
    { name: "stdout", text: "a { b: 1 }\ncd\n" },
    { name: "stderr", text: "e\nf\n" },
    { name: "stdout", text: "g\n" },
  ]);
  assert.equal(text, "a { b: 1 }\ncd\ne\nf\ng\n");
});

test("a character cut between two chunks arrives whole", async () => {
  const { text } = await kernel.execute(
    "const bytes = Buffer.from('é€'); for (const b of bytes) process.stdout.write(Buffer.from([b]))",
  );
  assert.equal(text, "é€");
});

test("20,000 lines arrive, all of them", async () => {
  const { text } = await kernel.execute(
    "for (let i = 0; i < 20000; i++) console.log('line ' + i + ' ' + 'x'.repeat(100))",
  );
  const lines = text.split("\n");
  assert.equal(lines.length, 20001);
  assert.equal(lines[19999], `line 19999 ${"x".repeat(100)}`);
});

test("a line of 20 MB arrives whole", async () => {
  const { text } = await kernel.execute("console.log('é'.repeat(20_000_000))");
  assert.equal(text.length, 20_000_001);
});

test("text shows while a cell computes, not when it ends", async () => {
  const { messages, finished } = kernel.start(
    "console.log('first'); console.log('second'); for (;;);",
  );
  await until(() => {
    const printed = messages.filter((m) => m.header.msg_type === "stream");
    return printed.map((m) => String(m.content.text)).join("") === "first\nsecond\n";
  }, "both lines to come");
  assert.equal(messages.filter((m) => isState(m, "idle")).length, 0, "it still computes");
  await kernel.request("control", "interrupt_request");
  assert.equal((await finished).error?.ename, "InterruptError");
});

test("output of timers and promises belongs to the cell that started them", async () => {
  const gate = await Gate.open();
  const first = kernel.start(
    `const late = (async () => { ${gate.here} console.log('late'); })(); 'one'`,
  );
  await first.finished;
  gate.pass();
  const second = await kernel.execute("await late; console.log('two')");
  await gate.close();
  assert.equal(second.text, "two\n");
  const late = await kernel.shown((m) => m.content.text === "late\n");
  assert.equal(late.parent.msg_id, first.id);
});

test("display, update and clear_output keep their place among texts", async () => {
  const { messages } = await kernel.execute(
    "console.log('before'); host.display({ 'text/html': '<b>1</b>' }, { id: 'd1', metadata: { m: 1 } });\n" +
      "console.log('between'); host.display({ 'text/html': '<b>2</b>' }, { id: 'd1', update: true });\n" +
      "host.clearOutput(true); console.log('after')",
  );
  const shown = messages.slice(2, -1).map((m) => [m.header.msg_type, m.content]);
  assert.deepEqual(shown, [
    ["stream", { name: "stdout", text: "before\n" }],
    [
      "display_data",
      { data: { "text/html": "<b>1</b>" }, metadata: { m: 1 }, transient: { display_id: "d1" } },
    ],
    ["stream", { name: "stdout", text: "between\n" }],
    [
      "update_display_data",
      { data: { "text/html": "<b>2</b>" }, metadata: {}, transient: { display_id: "d1" } },
    ],
    ["clear_output", { wait: true }],
    ["stream", { name: "stdout", text: "after\n" }],
  ]);
});

test("a bundle that cannot leave the thread is an error of the cell", async () => {
  const { error } = await kernel.execute("host.display({ 'text/plain': () => 1 })");
  assert.match(error?.evalue ?? "", /could not be cloned/);
  assert.equal((await kernel.execute("1")).reply.status, "ok");
});

test("a promise, an iterator or a symbol as the last value is shown", async () => {
  assert.match(
    String((await kernel.execute("Promise.resolve(3)")).result?.["text/plain"]),
    /Promise/,
  );
  assert.equal((await kernel.execute("Symbol('s')")).result?.["text/plain"], "Symbol(s)");
  assert.equal((await kernel.execute("undefined")).result, undefined);
  assert.equal(
    (await kernel.execute("10n ** 20n")).result?.["text/plain"],
    "100000000000000000000n",
  );
});
