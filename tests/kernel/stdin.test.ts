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
    await new Promise((r) => setTimeout(r, 200));
    await kernel.request("control", "interrupt_request");
    assert.equal((await running.finished).error?.ename, "InterruptError");
    kernel.stdin.length = 0;
    // A late answer to the question that was given up is nobody's.
    kernel.send("stdin", "input_reply", { value: "late" });
    const again = kernel.start("await host.input('again')", { allow_stdin: true });
    await kernel.answerInput("in time");
    assert.deepEqual((await again.finished).result, { "text/plain": "'in time'" });
  });
}
