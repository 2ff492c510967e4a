// Saving notebooks in the lab while something goes wrong: a file is the old one or the new one, and whoever was told
// that it is saved finds it so.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { WebSocket } from "ws";
import { Contents } from "../../../kernel/server/contents/contents.js";
import { LabServer } from "../../../kernel/server/lab-server.js";
import { remount, smallDisk } from "../../small-disk.js";
import { until } from "../../until.js";
import { type Area, type Attempt, Broken, type Place } from "../attempt.js";

const text = (content: string) => ({ type: "file", format: "text", content }) as const;
const version = (n: number, size: number) => `${n}:${String(n % 10).repeat(size)}`;

/** A text is a version as a whole. */
function whole(found: string, size: number): number {
  const n = Number(found.split(":")[0]);
  if (found !== version(n, size))
    throw new Broken("lost", `a torn file of ${found.length} characters`);
  return n;
}

async function killed(place: Place, size: number, ms: number): Promise<string> {
  const module = new URL("../../../kernel/server/contents/contents.js", import.meta.url).href;
  const program = `const { Contents } = await import(${JSON.stringify(module)});
const contents = new Contents(process.argv[1]);
for (let n = 1; ; n++) {
  await contents.save("a.txt", { type: "file", format: "text", content: n + ":" + String(n % 10).repeat(${size}) });
  if (n % 3 === 0) await contents.checkpoints.create("a.txt");
  process.stdout.write(n + "\\n");
}`;
  const args = ["--input-type=module", "-e", program, place.folder];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  place.after(() => child.kill("SIGKILL"));
  let said = "";
  child.stdout.on("data", (data: Buffer) => (said += data.toString()));
  await until(() => said.includes("\n"), "a first version");
  await pause(ms);
  child.kill("SIGKILL");
  await new Promise((done) => child.once("close", done));
  const told = Number(said.trim().split("\n").pop());
  const found = whole(readFileSync(place.path("a.txt"), "utf8"), size);
  if (found < told) throw new Broken("lost", `version ${told} was saved, ${found} is there`);
  // Whoever comes next can save: no lock is left.
  const contents = new Contents(place.folder);
  await contents.save("a.txt", text("next"));
  for (const { id } of await contents.checkpoints.list("a.txt")) {
    await contents.checkpoints.restore("a.txt", id);
    whole(readFileSync(place.path("a.txt"), "utf8"), size);
  }
  return `killed at version ${found}`;
}

async function twoLabs(place: Place, size: number): Promise<string> {
  writeFileSync(place.path("a.txt"), "0");
  const labs = [new Contents(place.folder), new Contents(place.folder)];
  const { hash } = await labs[0]!.get("a.txt", { hash: true });
  const tries = await Promise.allSettled(
    labs.map((lab, n) => lab.save("a.txt", { ...text(version(n + 1, size)), hash } as never)),
  );
  const accepted = tries.filter(({ status }) => status === "fulfilled").length;
  const found = whole(readFileSync(place.path("a.txt"), "utf8"), size);
  if (hash !== undefined && accepted > 1) {
    const seen = JSON.stringify(tries.map((one) => one.status));
    throw new Broken("lost", `both were accepted, ${found} is there: ${seen}`);
  }
  return `${accepted} accepted`;
}

async function noRoom(place: Place, isReadOnly: boolean): Promise<string> {
  const disk = await smallDisk(place, 1);
  if (disk === undefined) throw new Broken("skipped", "no disk can be mounted");
  const contents = new Contents(disk);
  await contents.save("a.txt", text(version(1, 200_000)));
  if (isReadOnly) remount(disk, "ro");
  const said = await contents.save("a.txt", text(version(2, 2_000_000))).then(
    () => assert.fail("it was saved"),
    (error: Error) => error.message,
  );
  assert.equal(whole(readFileSync(join(disk, "a.txt"), "utf8"), 200_000), 1);
  remount(disk, isReadOnly ? "rw,size=8m" : "size=8m");
  await contents.save("a.txt", text(version(2, 2_000_000)));
  return said;
}

/** A page that is gone while its cell runs, and one that comes back. */
async function browserClosed(place: Place, ms: number): Promise<string> {
  const lab = await LabServer.start({ folder: place.folder, token: "t" });
  place.after(async () => await lab.stop());
  const headers = { authorization: "token t" };
  const url = `http://127.0.0.1:${lab.port}/api/kernels`;
  const started = await fetch(url, { method: "POST", headers, body: '{"name":"arpo-lab-js"}' });
  const { id } = (await started.json()) as { id: string };
  const open = async () => {
    const socket = new WebSocket(
      `ws://127.0.0.1:${lab.port}/api/kernels/${id}/channels?session_id=s1&token=t`,
    );
    await new Promise((done, failed) => socket.once("open", done).once("error", failed));
    return socket;
  };
  const run = (socket: WebSocket, msgId: string, code: string) => {
    const header = {
      msg_id: msgId,
      msg_type: "execute_request",
      session: "s1",
      username: "",
      version: "5.5",
    };
    const content = {
      code,
      silent: false,
      store_history: true,
      user_expressions: {},
      allow_stdin: false,
    };
    socket.send(
      JSON.stringify({ channel: "shell", header, parent_header: {}, metadata: {}, content }),
    );
  };
  const first = await open();
  const end =
    "globalThis.kept = 0; for (let i = 0; i < 20; i++) { await new Promise((d) => setTimeout(d, 10)); kept++; }";
  run(first, "m1", end);
  await pause(ms);
  first.terminate();
  const second = await open();
  place.after(() => second.terminate());
  const shown = new Promise<string>((done) =>
    second.on("message", (data: Buffer) => {
      const message = JSON.parse(data.toString()) as {
        msg_type: string;
        parent_header: { msg_id?: string };
        content: { data?: Record<string, string> };
      };
      if (message.msg_type === "execute_result" && message.parent_header.msg_id === "m2")
        done(message.content.data!["text/plain"]!);
    }),
  );
  run(second, "m2", "kept");
  assert.equal(await shown, "20");
  await lab.kernels.shutdown(id);
  return "the cell came to its end";
}

export const lab: Area = {
  name: "lab",
  share: 4,
  seconds: 60,
  make: (random): Attempt => {
    const size = 1000 + random.integer(500_000);
    const ms = random.integer(600);
    return random.choose([
      {
        name: `a lab is killed after ${ms} ms of saving ${size} characters`,
        promise: "the file is whole and not older than what was said to be saved; no lock stays",
        run: (place) => killed(place, size, ms),
      },
      {
        name: `two labs save ${size} characters at one instant`,
        promise: "one is told of the other",
        run: (place) => twoLabs(place, size),
      },
      {
        name: "the disk is full while a lab saves",
        promise: "the error is told, the old file stays whole, and with room it is saved",
        run: (place) => noRoom(place, false),
      },
      {
        name: "the disk is read-only while a lab saves",
        promise: "the error is told, the old file stays whole, and it can be saved later",
        run: (place) => noRoom(place, true),
      },
      {
        name: `the browser is closed ${ms} ms into a cell`,
        promise: "the cell comes to its end, and another page finds its variables",
        run: (place) => browserClosed(place, ms % 250),
      },
    ]);
  },
};
