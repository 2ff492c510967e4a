// One long session with everything in it, each message of it held against the protocol: its schema
// (protocol.schema.json), JupyterLab's own validator, and the order of busy, input, outputs and idle.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";
import type { Message } from "../../kernel/wire/message.js";
import { DebugClient } from "./debug-client.js";
import { FrontEnd, type Received } from "./front-end.js";
import { faultsOf, kinds } from "./protocol.js";

const { validateMessage } = createRequire(import.meta.url)(
  "@jupyterlab/services/lib/kernel/validate",
) as { validateMessage: (message: object) => void };

let kernel: FrontEnd;
const received = (): readonly Received[] => kernel.received;

/** What was asked before this front end was surely heard: what answers it may have begun unheard. */
let early: ReadonlySet<string>;

before(async () => {
  kernel = await FrontEnd.start();
  early = new Set(kernel.sent.keys());
  await longSession();
});
after(() => kernel.close());

async function longSession(): Promise<void> {
  const request = kernel.request.bind(kernel);
  const execute = kernel.execute.bind(kernel);
  await request("control", "kernel_info_request");
  await request("shell", "connect_request");
  await execute(
    'import { clearOutput, display, raw } from "arpo-lab/kernel"; let a = { b: [1, 2] }; a',
    {
      user_expressions: { two: "1 + 1", none: "nothing.here" },
    },
  );
  await execute("console.log('out'); console.error('err')");
  await execute(
    "const shown = display.html('<b>1</b>'); shown.update('2'); display(new Map([[1, 2]]))",
  );
  await execute(
    "display(raw('application/json', { a: [null] })); display(raw('image/png', Uint8Array.of(1)))",
  );
  await execute("clearOutput({ wait: true }); 0");
  await execute("throw new RangeError('wrong')");
  await execute("const s: string = 3");
  await execute("function (");
  await execute("1", { silent: true });
  await execute("1", { store_history: false });
  await execute("?Math.sqrt");
  for (const code of ["1", "f(", "x ]", "`open"]) {
    await request("shell", "is_complete_request", { code });
  }
  for (const code of ["a.b.ma", "Math.", "nothing.a", "a."]) {
    await request("shell", "complete_request", { code, cursor_pos: code.length });
  }
  for (const code of ["a", "nothing", "Math.sqrt"]) {
    const content = { code, cursor_pos: code.length, detail_level: 1 };
    await request("shell", "inspect_request", content);
  }
  for (const hist_access_type of ["tail", "range", "search"]) {
    const options = { n: 5, pattern: "*", session: 0, start: 0, stop: 9 };
    for (const output of [true, false]) {
      await request("shell", "history_request", {
        hist_access_type,
        output,
        raw: true,
        ...options,
      });
    }
  }
  await execute(`const host = globalThis[Symbol.for("arpo-lab.kernel.host")];
    const comm = host.comms.open("here", { a: 1 }, { buffers: [Uint8Array.of(1)] });
    comm.send({ b: 2 });`);
  await request("shell", "comm_info_request", {});
  await request("shell", "comm_info_request", { target_name: "here" });
  await execute("comm.close({ c: 3 })");
  kernel.send("shell", "comm_open", { comm_id: "x", target_name: "unknown", data: {} });
  await kernel.shown(({ header }) => header.msg_type === "comm_close");
  const asking = kernel.start("[prompt('name?'), await host.input('key', { password: true })]", {
    allow_stdin: true,
  });
  await kernel.answerInput("a");
  await kernel.answerInput("b");
  await asking.finished;
  await execute("prompt('nobody')");
  const looping = kernel.start("for (;;) {}");
  await kernel.shown(
    ({ header, parent }) => header.msg_type === "execute_input" && parent.msg_id === looping.id,
  );
  const aborted = kernel.start("never");
  await request("control", "interrupt_request");
  await Promise.all([looping.finished, aborted.finished]);
  await request("control", "interrupt_request");
  await debugging();
  await execute("a.b.length");
  const made = await request("control", "create_subshell_request");
  await request("control", "list_subshell_request");
  await request("control", "delete_subshell_request", made.content);
  await request("control", "delete_subshell_request", made.content);
  await request("control", "shutdown_request", { restart: false });
  await kernel.exited;
}

async function debugging(): Promise<void> {
  const client = await DebugClient.attachTo(kernel);
  await client.ask("debugInfo");
  const code = "const inner = { deep: 1 };\nconst next = inner.deep + 1;\nnext";
  await client.breakAt(code, 2);
  const running = kernel.start(code);
  const stop = await client.stopped();
  await client.ask("inspectVariables");
  await client.ask("richInspectVariables", { variableName: "inner", frameId: stop.frameId });
  await client.ask("evaluate", { expression: "inner.deep", frameId: stop.frameId });
  await client.refusal("noSuchCommand");
  await client.ask("continue", { threadId: 1 });
  await running.finished;
  await client.ask("disconnect");
}

test("every message is as the protocol's schema says", () => {
  assert.deepEqual(
    received().flatMap(({ channel, message }) => faultsOf(channel, message)),
    [],
  );
  assert.ok(received().length > 150, `a long session, of ${received().length} messages`);
});

test("the session had every kind of message in it", () => {
  const had = new Set(received().map(({ message }) => message.header.msg_type));
  assert.deepEqual(
    kinds.filter((kind) => !had.has(kind)),
    [],
  );
});

test("JupyterLab's own validator takes every message", () => {
  for (const { channel, message } of received()) {
    const { header, parent, metadata, content } = message;
    validateMessage({ channel, header, parent_header: parent, metadata, content });
  }
  assert.throws(() => validateMessage({ channel: "iopub", header: {}, metadata: {}, content: {} }));
});

test("a message with anything wrong is seen by the schema", () => {
  const status = received().find(({ message }) => message.header.msg_type === "status")!.message;
  const wrong = (change: Partial<Message>, channel: Received["channel"] = "iopub"): void =>
    assert.notDeepEqual(faultsOf(channel, { ...status, ...change }), []);
  assert.deepEqual(faultsOf("iopub", status), []);
  wrong({}, "shell");
  wrong({ content: {} });
  wrong({ content: { execution_state: "working" } });
  wrong({ content: { execution_state: "idle", more: 1 } });
  wrong({ header: { ...status.header, date: "today" } });
  wrong({ parent: { msg_id: "only" } });
});

test("ids are given once, and every parent is a request of the client", () => {
  const ids = received().map(({ message }) => message.header.msg_id);
  assert.equal(new Set(ids).size, ids.length);
  const sessions = new Set(received().map(({ message }) => message.header.session));
  assert.equal(sessions.size, 1);
  for (const { message } of received()) {
    const { msg_id } = message.parent;
    if (msg_id !== undefined)
      assert.ok(kernel.sent.has(msg_id), `${message.header.msg_type} has a parent`);
  }
});

test("each request is busy first and once idle, with its input before its outputs", () => {
  const byRequest = new Map<string, Message[]>();
  for (const message of kernel.iopub) {
    const id = message.parent.msg_id;
    if (id !== undefined && !early.has(id))
      byRequest.set(id, [...(byRequest.get(id) ?? []), message]);
  }
  for (const [id, messages] of byRequest) {
    const types = messages.map(({ header, content }) =>
      header.msg_type === "status" ? content["execution_state"] : header.msg_type,
    );
    const said = `${kernel.sent.get(id)}: ${types.join(" ")}`;
    assert.equal(types[0], "busy", said);
    if (kernel.sent.get(id) === "shutdown_request") continue;
    assert.equal(types.filter((type) => type === "idle").length, 1, said);
    // A cell is said to be busy again after a request that overtook it: front ends show the last state.
    assert.ok(types.lastIndexOf("busy") < types.indexOf("idle"), said);
    const input = types.indexOf("execute_input");
    if (input >= 0) assert.equal(input, 1, said);
  }
  assert.ok(byRequest.size > 40);
});
