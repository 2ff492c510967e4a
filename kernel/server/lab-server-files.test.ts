import assert from "node:assert/strict";
import {
  closeSync,
  ftruncateSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { get } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { after, before, test } from "node:test";
import { ContentsThread } from "./contents/client.js";
import { type Answer, Router } from "./http/router.js";
import { LabServer } from "./lab-server.js";

const folder = mkdtempSync(join(tmpdir(), "lab-files-"));
let server: LabServer;
before(async () => {
  const line = Buffer.alloc(1 << 20, "a line of a log, and another of its words\n");
  const file = openSync(join(folder, "large.log"), "w");
  for (let i = 0; i < 300; i++) writeSync(file, line);
  closeSync(file);
  server = await LabServer.start({ folder });
});
after(async () => {
  await server.stop();
  rmSync(folder, { recursive: true });
});

async function ask(method: string, path: string, body?: object): Promise<Response> {
  return await fetch(new URL(path, server.url), {
    method,
    headers: { authorization: `token ${server.token}`, "content-type": "application/json" },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
}

/** Asks how the server is, over a line of its own. */
async function status(): Promise<number> {
  const headers = { authorization: `token ${server.token}` };
  const { port } = server;
  return await new Promise((done, failed) => {
    get({ host: "127.0.0.1", port, path: "/api/status", headers, agent: false }, (answer) => {
      answer.resume().once("end", () => done(answer.statusCode!));
    }).once("error", failed);
  });
}

interface Model {
  path: string;
  type: string;
  content: { name: string }[] | null;
}

test("a folder named checkpoints opens, and files are made, renamed and deleted in it", async () => {
  mkdirSync(join(folder, "runs", "checkpoints", "checkpoints"), { recursive: true });
  writeFileSync(join(folder, "runs", "checkpoints", "checkpoints", "step"), "1");
  const at = "/api/contents/runs/checkpoints";
  const names = async (path: string): Promise<string[]> => {
    const { type, content } = (await (await ask("GET", path)).json()) as Model;
    assert.equal(type, "directory");
    return content!.map(({ name }) => name);
  };
  assert.deepEqual(await names(at), ["checkpoints"]);
  assert.deepEqual(await names(`${at}/checkpoints`), ["step"]);
  const made = (await (await ask("POST", at, { type: "notebook" })).json()) as Model;
  assert.equal(made.path, "runs/checkpoints/Untitled.ipynb");
  const moved = await ask("PATCH", `${at}/Untitled.ipynb`, { path: "runs/checkpoints/a.ipynb" });
  assert.equal(moved.status, 200);
  // A file there has checkpoints as any other file has.
  const kept = await ask("POST", `${at}/a.ipynb/checkpoints`);
  assert.equal(kept.status, 201);
  const list = (await (await ask("GET", `${at}/a.ipynb/checkpoints`)).json()) as object[];
  assert.equal(list.length, 1);
  assert.equal((await ask("DELETE", `${at}/checkpoints/step`)).status, 204);
  assert.equal((await ask("DELETE", `${at}/checkpoints`)).status, 204);
  assert.deepEqual(
    readdirSync(join(folder, "runs", "checkpoints")).filter((name) => !name.startsWith(".")),
    ["a.ipynb"],
  );
});

test("a file of 300 MB that is opened leaves the server answering others", async () => {
  const events: string[] = [];
  let isOpened = false;
  const opening = ask("GET", "/api/contents/large.log?content=1&hash=1").then((answer) => {
    isOpened = true;
    events.push("opened");
    return answer;
  });
  while (!isOpened) {
    assert.equal(await status(), 200);
    events.push("status");
  }
  const answer = await opening;
  assert.equal(answer.status, 200);
  let size = 0;
  for await (const chunk of answer.body!) size += chunk.length;
  assert.ok(size > 300 << 20, `${size} bytes came`);
  // One could have been asked before the file; the others came while it was read.
  assert.ok(events.indexOf("opened") > 3, events.join(" ").slice(0, 200));
});

test("a file that is too long for one text is refused in words", async () => {
  const file = openSync(join(folder, "huge.log"), "w");
  ftruncateSync(file, 600 << 20);
  closeSync(file);
  const refused = await ask("GET", "/api/contents/huge.log");
  assert.equal(refused.status, 413);
  const { message } = (await refused.json()) as { message: string };
  assert.match(message, /^Cannot open huge.log: as text it must be at most 511 MB; download it/);
});

test("files are read again after their thread ended", async () => {
  const gone = join(folder, "not there yet");
  const router = new Router();
  const thread = new ContentsThread(
    { folder: gone, trustFile: undefined, limit: 1000 },
    () => undefined,
  );
  thread.routes(router);
  const list = async (): Promise<Answer> =>
    await router.handle(
      Object.assign(Readable.from([]), { method: "GET", headers: {} }),
      new URL("http://lab.invalid/api/contents"),
    );
  await assert.rejects(list, /Cannot read or write files: their thread ended: ENOENT/);
  mkdirSync(gone);
  assert.match(Buffer.from((await list()).bytes!).toString(), /"content":\[\]/);
  await thread.stop();
});
