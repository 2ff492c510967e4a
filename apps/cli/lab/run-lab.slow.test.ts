import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { temporaryFolder } from "../../../tests/temporary.js";

const bin = fileURLToPath(new URL("../../../../apps/cli/bin/arpo-lab.mjs", import.meta.url));

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false; // that is the answer
  }
}

test("arpo-lab lab prints one address, serves it, and ends its kernels on Ctrl-C", async () => {
  const folder = temporaryFolder("lab-command");
  writeFileSync(join(folder, "here.txt"), "here");
  const lab = spawn(process.execPath, [bin, "lab", "--no-browser", "--dir", folder], {
    env: { ...process.env, ARPO_LAB_DATA: temporaryFolder("lab-data") },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise<number | null>((done) => lab.once("close", (code) => done(code)));
  let text = "";
  const address = await new Promise<string>((found, failed) => {
    lab.stdout.on("data", (chunk: Buffer) => {
      text += chunk.toString();
      const match = /^http:\S+$/m.exec(text);
      if (match !== null && text.endsWith("\n")) found(match[0]);
    });
    void ended.then((code) => failed(new Error(`it ended with ${code}: ${text}`)));
  });
  assert.equal(text.match(/http:/g)?.length, 1);
  const url = new URL(address);
  assert.equal(url.hostname, "127.0.0.1");
  const headers = { authorization: `token ${url.searchParams.get("token")}` };

  const page = await fetch(new URL("/lab", url), { headers });
  assert.match(await page.text(), /jupyter-config-data/);
  const listed = await fetch(new URL("/api/contents", url), { headers });
  assert.match(await listed.text(), /here\.txt/);

  // A kernel tells its process by writing it down.
  const started = await fetch(new URL("/api/kernels", url), {
    method: "POST",
    headers,
    body: '{"name":"arpo-lab-js"}',
  });
  const { id } = (await started.json()) as { id: string };
  const { WebSocket } = await import("ws");
  const token = url.searchParams.get("token");
  const socket = new WebSocket(`ws://${url.host}/api/kernels/${id}/channels?token=${token}`);
  await new Promise((open, failed) => socket.once("open", open).once("error", failed));
  const pid = await new Promise<number>((told) => {
    socket.on("message", (data: Buffer) => {
      const { msg_type, content } = JSON.parse(data.toString()) as {
        msg_type: string;
        content: { text?: string };
      };
      if (msg_type === "stream") told(Number(content.text));
    });
    const header = {
      msg_id: "1",
      msg_type: "execute_request",
      session: "s",
      username: "",
      version: "5.5",
    };
    const content = { code: "console.log(process.pid)", silent: false, store_history: false };
    socket.send(
      JSON.stringify({ channel: "shell", header, parent_header: {}, metadata: {}, content }),
    );
  });
  assert.ok(isAlive(pid));
  lab.kill("SIGINT");
  assert.equal(await ended, 0);
  assert.ok(!isAlive(pid), "the kernel ended with the lab");
});

test("in a clone the lab opens a copy of the first lesson, trusts it, and lists no sources", async (t) => {
  const root = fileURLToPath(new URL("../../../..", import.meta.url));
  if (!existsSync(join(root, ".git"))) return t.skip("this is no clone");
  for (const all of [false, true]) {
    const lab = spawn(
      process.execPath,
      [bin, "lab", "--no-browser", ...(all ? ["--all-files"] : [])],
      {
        cwd: root,
        env: { ...process.env, INIT_CWD: root, ARPO_LAB_DATA: temporaryFolder("lab-data") },
        stdio: ["ignore", "pipe", "inherit"],
      },
    );
    const ended = new Promise((done) => lab.once("close", done));
    try {
      let text = "";
      const address = await new Promise<string>((found, failed) => {
        lab.stdout.on("data", (chunk: Buffer) => {
          text += chunk.toString();
          const match = /^http:\S+$/m.exec(text);
          if (match !== null && text.endsWith("\n")) found(match[0]);
        });
        void ended.then(() => failed(new Error(`it ended: ${text}`)));
      });
      const url = new URL(address);
      assert.equal(url.pathname, "/lab/tree/lessons/00-tour.ipynb");
      const headers = { authorization: `token ${url.searchParams.get("token")}` };
      const get = async (path: string): Promise<unknown> => {
        const answer = await fetch(new URL(`/api/contents${path}`, url), { headers });
        return ((await answer.json()) as { content: unknown }).content;
      };
      const names = ((await get("")) as { name: string }[]).map(({ name }) => name);
      assert.ok(names.includes("lessons"));
      assert.deepEqual([names.includes("notebooks"), names.includes("src")], [all, all]);
      const { cells } = (await get("/lessons/00-tour.ipynb")) as {
        cells: { cell_type: string; metadata: { trusted?: boolean } }[];
      };
      assert.ok(cells.every(({ cell_type, metadata }) => cell_type !== "code" || metadata.trusted));
      assert.match(text, /You edit copies of the lessons, in .*lessons, which Git ignores/);
      const ignored = spawnSync("git", ["check-ignore", "lessons/00-tour.ipynb"], { cwd: root });
      assert.equal(ignored.status, 0);
    } finally {
      lab.kill("SIGINT");
      await ended;
    }
  }
});
