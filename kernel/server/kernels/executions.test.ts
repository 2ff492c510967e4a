import assert from "node:assert/strict";
import { test } from "node:test";
import type { Frames } from "./codec.js";
import { Executions } from "./executions.js";
import type { Listener } from "./listener.js";

type Data = Record<string, unknown>;

const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
const listener = (): Listener => ({
  connected: true,
  receive: () => undefined,
  close: () => undefined,
});

function message(type: string, content: Data, session = "kernel"): Frames {
  return {
    channel: "iopub",
    header: json({ msg_id: "m", msg_type: type, session }),
    parent: json({ msg_id: "r" }),
    metadata: json({}),
    content: json(content),
    buffers: [],
  };
}

function request(executions: Executions, id: string, cell: string, from: Listener): void {
  const header = { msg_id: id, msg_type: "execute_request", session: "page" };
  const frames = {
    ...message("", { code: `// ${cell}` }),
    header: json(header),
    metadata: json({ cellId: cell }),
  };
  executions.requested(header, frames, from);
  executions.said(id, "execute_input", message("execute_input", { execution_count: 7 }));
  executions.said(id, "stream", message("stream", { text: cell }));
}

const end = (executions: Executions, id: string): void =>
  executions.said(id, "execute_reply", message("execute_reply", { status: "ok" }));

const types = (frames: Frames[]): string[] =>
  frames.map(({ header }) =>
    String((JSON.parse(Buffer.from(header).toString()) as Data)["msg_type"]),
  );

test("Executions gives a listener once what it has not had", () => {
  const executions = new Executions(1e6);
  const [asker, other] = [listener(), listener()];
  request(executions, "r", "a", asker);
  assert.deepEqual(executions.replay(asker, "kernel"), []);
  const replayed = executions.replay(other, "kernel");
  assert.deepEqual(types(replayed), ["arpo_lab_replay", "execute_input", "stream"]);
  const { cell, request: sent } = JSON.parse(Buffer.from(replayed[0]!.content).toString()) as {
    cell: string;
    request: { header: Data; content: Data };
  };
  assert.deepEqual([cell, sent.header["msg_id"], sent.content["code"]], ["a", "r", "// a"]);
  assert.deepEqual(executions.replay(other, "kernel"), []);
});

test("Executions keeps a run until its notebook is saved with it", () => {
  const executions = new Executions(1e6);
  const newcomer = listener();
  request(executions, "r", "a", listener());
  const save = (cells: Data[]): void => executions.saved({ cells });
  save([{ id: "a", execution_count: 7 }]); // it has not ended
  end(executions, "r");
  save([{ id: "a", execution_count: null }]); // by a page that has not heard of the end
  assert.deepEqual(executions.missing(newcomer), ["r"]);
  save([{ id: "a", execution_count: 7 }]);
  assert.deepEqual(executions.missing(newcomer), []);
});

test("Executions forgets runs of cells that were deleted or run again", () => {
  const executions = new Executions(1e6);
  const newcomer = listener();
  request(executions, "r1", "a", listener());
  request(executions, "r2", "a", listener());
  assert.deepEqual(executions.missing(newcomer), ["r2"]);
  executions.saved({ cells: [] });
  assert.deepEqual(executions.missing(newcomer), []); // deleted while it runs
  executions.saved({ cells: [{ id: "a" }] }); // and put back
  assert.deepEqual(executions.missing(newcomer), ["r2"]);
  executions.saved({ cells: [] });
  end(executions, "r2");
  executions.saved({ cells: [{ id: "a" }] });
  assert.deepEqual(executions.missing(newcomer), []);
});

test("Executions ends what ran in a kernel that died, in the session of the next", () => {
  const executions = new Executions(1e6);
  request(executions, "r", "a", listener());
  executions.died();
  const replayed = executions.replay(listener(), "next");
  assert.deepEqual(types(replayed), [
    "arpo_lab_replay",
    "execute_input",
    "stream",
    "error",
    "execute_reply",
    "status",
  ]);
  for (const { header } of replayed) {
    assert.equal((JSON.parse(Buffer.from(header).toString()) as Data)["session"], "next");
  }
});

test("Executions lets the oldest ended runs go when they are too large together", () => {
  const executions = new Executions(10_000);
  for (let i = 0; i < 10; i++) {
    request(executions, `r${i}`, `cell ${i}`, listener());
    executions.said(`r${i}`, "display_data", message("display_data", { data: "x".repeat(9000) }));
    end(executions, `r${i}`);
  }
  assert.deepEqual(executions.missing(listener()), ["r6", "r7", "r8", "r9"]);
});

test("Executions does not keep what belongs to no cell", () => {
  const executions = new Executions(1e6);
  const header = { msg_id: "x", msg_type: "execute_request" };
  executions.requested(header, message("", { code: "1" }), listener());
  executions.said("x", "stream", message("stream", { text: "1" }));
  assert.deepEqual(executions.missing(listener()), []);
});
