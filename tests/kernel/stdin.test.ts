import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { FrontEnd } from "./front-end.js";

let kernel: FrontEnd;
before(async () => {
  kernel = await FrontEnd.start({ language: "javascript" });
  await kernel.execute("const host = globalThis[Symbol.for('arpo-lab.kernel.host')]");
});
after(() => kernel.close());

test("input() asks the front end and waits for its answer", async () => {
  const running = kernel.start("await host.input('name? ')", { allow_stdin: true });
  const question = await kernel.answerInput("Ada");
  assert.deepEqual(question.content, { prompt: "name? ", password: false });
  assert.equal(question.parent.msg_id, running.id);
  assert.deepEqual((await running.finished).result, { "text/plain": "'Ada'" });
});

test("inputSync() blocks the cell, more than once, with a password", async () => {
  const running = kernel.start(
    "const a = host.inputSync('a'); const b = host.inputSync('b', { password: true }); a + b",
    { allow_stdin: true },
  );
  await kernel.answerInput("x");
  assert.equal((await kernel.answerInput("y")).content.password, true);
  assert.deepEqual((await running.finished).result, { "text/plain": "'xy'" });
});

test("input() rejects where the front end takes no requests", async () => {
  const { error } = await kernel.execute("await host.input('?')");
  assert.match(error?.evalue ?? "", /^Cannot ask for input: this front end does not take/);
});

for (const call of ["await host.input('?')", "host.inputSync('?')"]) {
  test(`an interrupt ends ${call}`, async () => {
    const running = kernel.start(call, { allow_stdin: true });
    const givenUp = await kernel.question();
    await kernel.request("control", "interrupt_request");
    assert.equal((await running.finished).error?.ename, "InterruptError");
    const again = kernel.start("await host.input('again')", { allow_stdin: true });
    const question = await kernel.question();
    // A late answer to the question that was given up is nobody's.
    kernel.answerTo(givenUp, "late");
    kernel.answerTo(question, "in time");
    assert.deepEqual((await again.finished).result, { "text/plain": "'in time'" });
  });
}

test("node:readline reads from the front end, as often as it asks and no more; a later cell reads on", async () => {
  const running = kernel.start(
    `const readline = await import("node:readline/promises");
     const lines = readline.createInterface({ input: process.stdin, output: process.stdout });
     const first = await lines.question("first? ");
     const second = await lines.question("second? ");
     lines.close();
     first + second`,
    { allow_stdin: true },
  );
  const question = await kernel.answerInput("a");
  assert.equal(question.parent.msg_id, running.id);
  await kernel.answerInput("b");
  const { result, text } = await running.finished;
  assert.deepEqual(result, { "text/plain": "'ab'" });
  assert.match(text, /first\? second\? /);
  // Where one question too many was asked, it comes before that of a later cell.
  const later = kernel.start(
    `let text = "";
     for await (const chunk of process.stdin) { text += chunk; if (text.includes("end")) break; }
     text`,
    { allow_stdin: true },
  );
  assert.equal((await kernel.answerInput("line")).parent.msg_id, later.id);
  await kernel.answerInput("end");
  assert.deepEqual((await later.finished).result, { "text/plain": "'line\\nend\\n'" });
});

test("reading process.stdin where nobody can be asked is an error", async () => {
  const reading = kernel.start("process.stdin.once('data', () => undefined); 0");
  await reading.finished;
  const error = await kernel.shown(
    ({ header, parent }) => header.msg_type === "error" && parent.msg_id === reading.id,
  );
  assert.match(String(error.content["evalue"]), /^Cannot ask for input: this front end does not/);
});

test("prompt, confirm and alert ask the front end, as a browser's and Deno's do", async () => {
  // A kernel of its own: whoever listened to process.stdin before may still ask the other.
  const asks = await FrontEnd.start({ language: "javascript" });
  const running = asks.start(
    "[prompt('Name? '), prompt('Colour?', 'blue'), confirm('Sure?'), confirm('Really?'), alert('Done')]",
    { allow_stdin: true },
  );
  const asked: unknown[] = [];
  for (const answer of ["Ada", "", "y", "", ""]) {
    asked.push((await asks.answerInput(answer)).content["prompt"]);
  }
  assert.deepEqual(asked, [
    "Name? ",
    "Colour? [blue] ",
    "Sure? [y/N] ",
    "Really? [y/N] ",
    "Done [Enter] ",
  ]);
  const { result } = await running.finished;
  assert.deepEqual(result, { "text/plain": "[ 'Ada', 'blue', true, false, undefined ]" });
  await asks.close();
});

test("Deno.jupyter.broadcast opens a comm, sends over it and closes it", async () => {
  const { messages, error } = await kernel.execute(`
    const to = (type, content, extra) =>
      Deno.jupyter.broadcast(type, { comm_id: "mine", ...content }, extra);
    await to("comm_open", { target_name: "nobody", data: { a: 1 } });
    await to("comm_msg", { data: { b: 2 } }, { buffers: [Uint8Array.of(7)] });
    await to("comm_close", { data: {} });
    await to("comm_msg", { data: {} });`);
  const sent = messages.filter(({ header }) => header.msg_type.startsWith("comm_"));
  assert.deepEqual(
    sent.map(({ header, content }) => [header.msg_type, content["data"]]),
    [
      ["comm_open", { a: 1 }],
      ["comm_msg", { b: 2 }],
      ["comm_close", {}],
    ],
  );
  assert.equal(sent[1]!.buffers[0]![0], 7);
  assert.match(error?.evalue ?? "", /comm_id must be that of an open comm, got 'mine'/);
});
