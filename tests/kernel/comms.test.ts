import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { FrontEnd, held, isState } from "./front-end.js";

let kernel: FrontEnd;
before(async () => {
  kernel = await FrontEnd.start({ language: "javascript" });
  await kernel.execute("const { comms } = globalThis[Symbol.for('arpo-lab.kernel.host')]");
});
after(() => kernel.close());

test("a cell opens a comm, sends buffers on it and closes it", async () => {
  const { messages } = await kernel.execute(
    "const comm = comms.open('t', { a: 1 }, { id: 'c1', metadata: { v: 2 }, buffers: [new Uint8Array([1, 2])] });\n" +
      "comm.send({ b: 2 }, { buffers: [new Uint8Array(3)] }); comm.close({ bye: true })",
  );
  const comms = messages.filter((m) => m.header.msg_type.startsWith("comm_"));
  const sent = comms.map((m) => [m.header.msg_type, m.content, m.buffers.map((b) => [...b])]);
  assert.deepEqual(sent, [
    ["comm_open", { comm_id: "c1", data: { a: 1 }, target_name: "t" }, [[1, 2]]],
    ["comm_msg", { comm_id: "c1", data: { b: 2 } }, [[0, 0, 0]]],
    ["comm_close", { comm_id: "c1", data: { bye: true } }, []],
  ]);
  assert.deepEqual(comms[0]!.metadata, { v: 2 });
  const { error } = await kernel.execute("comm.send({})");
  assert.match(error?.evalue ?? "", /must be open/);
});

test("a front end opens a comm and talks with the kernel, also while a cell waits", async () => {
  await kernel.execute(
    "comms.register('echo', (comm, message) => { comm.send({ opened: message.data });\n" +
      "comm.onMessage = (m) => { console.log('got', m.data.n); comm.send({ echo: m.data }, { buffers: m.buffers }) };\n" +
      "comm.onClose = () => console.log('closed') })",
  );
  kernel.send("shell", "comm_open", { comm_id: "f1", target_name: "echo", data: { hi: 1 } });
  const opened = await kernel.shown(
    (m) => m.header.msg_type === "comm_msg" && m.content.comm_id === "f1",
  );
  assert.deepEqual(opened.content.data, { opened: { hi: 1 } });
  const info = await kernel.request("shell", "comm_info_request", { target_name: "echo" });
  assert.deepEqual(info.content.comms, { f1: { target_name: "echo" } });

  const running = kernel.start(held);
  await kernel.begun(running.id);
  const id = kernel.send("shell", "comm_msg", { comm_id: "f1", data: { n: 7 } }, [
    Buffer.from("xyz"),
  ]);
  const answer = await kernel.shown(
    (m) => m.header.msg_type === "comm_msg" && m.parent.msg_id === id,
  );
  assert.deepEqual(answer.content.data, { echo: { n: 7 } });
  assert.equal(Buffer.from(answer.buffers[0]!).toString(), "xyz");
  const text = await kernel.shown((m) => m.content.text === "got 7\n");
  assert.equal(text.parent.msg_id, id, "what a handler prints belongs to the message");
  assert.equal(
    running.messages.filter((m) => isState(m, "idle")).length,
    0,
    "the cell still waits",
  );
  kernel.release();
  await running.finished;

  const closing = kernel.send("shell", "comm_close", { comm_id: "f1", data: {} });
  await kernel.shown((m) => m.parent.msg_id === closing && isState(m, "idle"));
  const after = await kernel.request("shell", "comm_info_request", {});
  assert.deepEqual(after.content.comms, {});
});

test("a comm for a target nobody registered is closed again", async () => {
  kernel.send("shell", "comm_open", { comm_id: "n1", target_name: "nobody", data: {} });
  const closed = await kernel.shown(
    (m) => m.header.msg_type === "comm_close" && m.content.comm_id === "n1",
  );
  assert.match(JSON.stringify(closed.content.data), /no target named nobody/);
});

test("a handler that throws shows its error and leaves the kernel alive", async () => {
  await kernel.execute("comms.register('bad', () => { throw new TypeError('handler') })");
  const id = kernel.send("shell", "comm_open", { comm_id: "b1", target_name: "bad", data: {} });
  const shown = await kernel.shown((m) => m.header.msg_type === "error" && m.parent.msg_id === id);
  assert.equal(shown.content.evalue, "handler");
  assert.equal((await kernel.execute("1")).reply.status, "ok");
});
