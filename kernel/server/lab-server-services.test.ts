import {
  ContentsManager,
  type Kernel,
  KernelManager,
  KernelSpecAPI,
  ServerConnection,
  SessionManager,
} from "@jupyterlab/services";
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { WebSocket } from "ws";
import { Gate } from "../../tests/gate.js";
import { until } from "../../tests/until.js";
import { LabServer } from "./lab-server.js";
import { temporaryFolder } from "../../tests/temporary.js";

const folder = temporaryFolder("lab-services");
let server: LabServer;
let serverSettings: ServerConnection.ISettings;
let kernels: KernelManager;
let sessions: SessionManager;

before(async () => {
  server = await LabServer.start({ folder, buffer: { bytes: 1 << 20, time: 60_000 } });
  serverSettings = ServerConnection.makeSettings({
    baseUrl: server.url,
    wsUrl: server.url.replace("http", "ws"),
    token: server.token,
    appendToken: true,
  });
  kernels = new KernelManager({ serverSettings });
  sessions = new SessionManager({ kernelManager: kernels, serverSettings });
});
after(async () => {
  for (const manager of [sessions, kernels]) {
    manager.dispose();
    // Its poll leaves a timer of ten seconds behind.
    const { _pollModels: poll } = manager as unknown as {
      _pollModels: { _timeout: NodeJS.Timeout };
    };
    clearTimeout(poll._timeout);
  }
  await server.stop();
});

interface Ran {
  status: string;
  text: string;
}

/** Runs code; resolves to how it ended and all that it printed or resulted in. */
async function run(kernel: Kernel.IKernelConnection, code: string): Promise<Ran> {
  let text = "";
  const future = kernel.requestExecute({ code });
  future.onIOPub = ({ content }) => {
    if ("text" in content) text += String(content.text);
    if ("data" in content) text += String((content.data as Record<string, unknown>)["text/plain"]);
  };
  const reply = await future.done;
  return { status: reply.content.status, text };
}

test("LabServer lists kernel specs, ours first", async () => {
  const specs = await KernelSpecAPI.getSpecs(serverSettings);
  assert.equal(specs.default, "arpo-lab");
  const own = specs.kernelspecs["arpo-lab"]!;
  assert.equal(own.language, "typescript");
  const logo = own.resources["logo-svg"];
  const answer = await fetch(new URL(logo!, server.url), {
    headers: { authorization: `token ${server.token}` },
  });
  assert.equal(answer.headers.get("content-type"), "image/svg+xml");
});

test("LabServer answers who one is", async () => {
  // UserManager needs a browser's localStorage.
  const answer = await fetch(new URL("/api/me", server.url), {
    headers: { authorization: `token ${server.token}` },
  });
  const { identity } = (await answer.json()) as { identity: { username: string } };
  assert.equal(identity.username, "you");
});

test("LabServer saves, reads, renames and deletes through the contents client", async () => {
  const contents = new ContentsManager({ serverSettings });
  const made = await contents.newUntitled({ path: "", type: "notebook" });
  assert.equal(made.path, "Untitled.ipynb");
  const read = await contents.get(made.path);
  await contents.save(made.path, {
    type: "notebook",
    format: "json",
    content: read.content as unknown,
  });
  const checkpoint = await contents.createCheckpoint(made.path);
  assert.deepEqual(
    (await contents.listCheckpoints(made.path)).map((c) => c.id),
    [checkpoint.id],
  );
  await contents.restoreCheckpoint(made.path, checkpoint.id);
  const moved = await contents.rename(made.path, "ü und #1?.ipynb");
  assert.equal(moved.path, "ü und #1?.ipynb");
  assert.equal((await contents.copy(moved.path, "")).path, "ü und #1?-Copy1.ipynb");
  await contents.delete(moved.path);
  await assert.rejects(contents.get(moved.path), /No such file/);
  contents.dispose();
});

test("LabServer runs, interrupts and restarts a session's kernel in the document's folder", async () => {
  writeFileSync(join(folder, "data.txt"), "from the folder");
  const session = await sessions.startNew({
    name: "",
    path: "one.ipynb",
    type: "notebook",
    kernel: { name: "arpo-lab" },
  });
  const kernel = session.kernel!;
  assert.deepEqual(await run(kernel, "const a = 41;\na + 1"), { status: "ok", text: "42" });
  const read = await run(
    kernel,
    'import { readFileSync } from "node:fs";\nconsole.log(readFileSync("data.txt", "utf8"))',
  );
  assert.equal(read.text, "from the folder\n");

  const again = await sessions.startNew({ name: "", path: "one.ipynb", type: "notebook" });
  assert.equal(again.kernel?.id, kernel.id, "two tabs share a kernel");
  again.dispose();

  const loop = run(kernel, "while (true);");
  await until(() => kernel.status === "busy", "the kernel to change");
  await kernel.interrupt();
  assert.equal((await loop).status, "error");
  assert.equal((await run(kernel, "a")).text, "41", "state outlives an interrupt");

  await kernel.restart();
  assert.equal((await run(kernel, "typeof a")).status, "error", "a restart forgets");
  await session.setPath("two.ipynb");
  assert.deepEqual(
    [...(await listSessions())].map((s) => s.path),
    ["two.ipynb"],
  );
  await session.shutdown();
  assert.deepEqual(await listSessions(), []);
});

async function listSessions(): Promise<{ path: string }[]> {
  await sessions.refreshRunning();
  return [...sessions.running()];
}

test("LabServer keeps what a page missed while its connection was gone", async () => {
  const kernel = await kernels.startNew({ name: "arpo-lab" });
  await run(kernel, "0");
  const gate = await Gate.open();
  const print = (from: number): string =>
    `for (let i = ${from}; i < ${from + 10}; i++) console.log(i); ${gate.here}\n`;
  let text = "";
  const seen = new Set<string>();
  const future = kernel.requestExecute({ code: [0, 10, 20].map(print).join("") });
  future.onIOPub = ({ header, content }) => {
    // Whoever does not say how many messages came may get one again.
    if ("text" in content && !seen.has(header.msg_id)) text += String(content.text);
    seen.add(header.msg_id);
  };
  await until(() => text.includes("9\n"), "the first lines to come");
  await gate.reached();
  const lost: string[] = [];
  kernel.connectionStatusChanged.connect((_, status) => void lost.push(status));
  const { _ws: socket } = kernel as unknown as { _ws: WebSocket };
  socket.terminate(); // the network is gone; the client connects again by itself
  gate.pass();
  // slow: a server that is busy, and hears of the lines before it hears that nobody takes them
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
  await until(() => lost.includes("connected"), "the client to connect again");
  gate.pass(2);
  await future.done;
  await gate.close();
  assert.deepEqual(lost, ["connecting", "connected"]);
  assert.equal(text, Array.from({ length: 30 }, (_, i) => `${i}\n`).join(""));
  await kernel.shutdown();
});

test("LabServer starts a kernel again that died, and says so", async () => {
  const kernel = await kernels.startNew({ name: "arpo-lab" });
  await run(kernel, "const kept = 1");
  const states: string[] = [];
  kernel.statusChanged.connect((_, state) => void states.push(state));
  kernel
    .requestExecute({ code: "process.kill(process.pid, 'SIGKILL')" })
    .done.catch(() => undefined); // it dies
  await until(() => states.includes("autorestarting"), "the kernel to change");
  await until(() => kernel.status === "idle", "the kernel to change");
  assert.deepEqual(await run(kernel, "1 + 1"), { status: "ok", text: "2" });
  await kernel.shutdown();
});

test("LabServer asks for input in the page that runs the cell", async () => {
  const kernel = await kernels.startNew({ name: "arpo-lab" });
  const future = kernel.requestExecute({
    code: 'import { prompt } from "arpo-lab/kernel";\nconsole.log(await prompt("name?"))',
    allow_stdin: true,
  });
  let text = "";
  future.onStdin = (message) => {
    if (message.header.msg_type !== "input_request") return;
    kernel.sendInputReply({ status: "ok", value: "Ada" }, message.header as never);
  };
  future.onIOPub = ({ content }) => {
    if ("text" in content) text += String(content.text);
  };
  await future.done;
  assert.match(text, /Ada/);
  await kernel.shutdown();
});

test("LabServer speaks the JSON sub-protocol to those who ask for no other", async () => {
  const { id } = (await (
    await fetch(new URL("/api/kernels", server.url), {
      method: "POST",
      headers: { authorization: `token ${server.token}` },
      body: '{"name":"arpo-lab-js"}',
    })
  ).json()) as { id: string };
  const socket = new WebSocket(
    `${serverSettings.wsUrl}api/kernels/${id}/channels?session_id=s1&token=${server.token}`,
  );
  await new Promise((open, failed) => socket.once("open", open).once("error", failed));
  assert.equal(socket.protocol, "");
  const replied = new Promise<Record<string, unknown>>((done) =>
    socket.on("message", (data: Buffer) => {
      const message = JSON.parse(data.toString()) as Record<string, unknown>;
      if (message["msg_type"] === "execute_reply") done(message);
    }),
  );
  const header = {
    msg_id: "m1",
    msg_type: "execute_request",
    session: "s1",
    username: "",
    version: "5.5",
  };
  const content = {
    code: "1",
    silent: false,
    store_history: true,
    user_expressions: {},
    allow_stdin: false,
  };
  socket.send(
    JSON.stringify({ channel: "shell", header, parent_header: {}, metadata: {}, content }),
  );
  const reply = await replied;
  assert.equal(reply["channel"], "shell");
  assert.equal((reply["parent_header"] as { msg_id: string }).msg_id, "m1");
  const closed = new Promise<number>((done) => socket.once("close", done));
  socket.send("no message");
  assert.equal(await closed, 1003);
  await server.kernels.shutdown(id);
});

test("LabServer ends idle kernels where it is told to", async () => {
  const { id } = await server.kernels.start("arpo-lab", folder);
  assert.deepEqual(await server.kernels.cull(3_600_000), []);
  await until(
    () => server.kernels.get(id).model.execution_state === "idle",
    "the kernel to change",
  );
  const ended = await until(async () => {
    const ids = await server.kernels.cull(10);
    return ids.length > 0 && ids;
  }, "the kernel to be idle for 10 ms");
  assert.deepEqual(ended, [id]);
});

test("LabServer keeps settings and workspaces", async () => {
  const send = async (method: string, path: string, body?: unknown): Promise<Response> =>
    await fetch(new URL(path, server.url), {
      method,
      headers: { authorization: `token ${server.token}` },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  assert.equal((await send("PUT", "/lab/api/workspaces/default", { data: { a: 1 } })).status, 204);
  const workspace = (await (await send("GET", "/lab/api/workspaces/default")).json()) as {
    data: unknown;
  };
  assert.deepEqual(workspace.data, { a: 1 });
  assert.equal((await send("GET", "/lab/api/settings/none:none")).status, 404);
  await send("PATCH", "/api/config/notebook", { a: { b: 1, c: 2 } });
  await send("PATCH", "/api/config/notebook", { a: { b: null } });
  assert.deepEqual(await (await send("GET", "/api/config/notebook")).json(), { a: { c: 2 } });
  assert.ok(readFileSync(join(folder, "data.txt"), "utf8").length > 0);
});
