import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { holdFolder, holdFolderByPath } from "#platform/held-folder";
import { toErrorResponse } from "../../../common/http-server/error-response.js";
import { Contents } from "./contents.js";
import { Paths } from "./paths.js";
import { temporaryFolder } from "../../../tests/temporary.js";

const made: string[] = [];
after(() => {
  for (const folder of made) rmSync(folder, { recursive: true });
});

/** A folder for a lab, and one beside it with a file that is none of its business. */
function twoFolders(): { inside: string; outside: string } {
  const base = temporaryFolder("places");
  const [inside, outside] = [join(base, "in"), join(base, "out")];
  mkdirSync(inside);
  mkdirSync(outside);
  writeFileSync(join(outside, "a.txt"), "secret");
  writeFileSync(join(outside, "a-checkpoint.txt"), "secret");
  return { inside, outside };
}

/** What a folder holds, names and texts; without descriptors a hidden spare file of ours may stay behind. */
const stateOf = (folder: string): string =>
  readdirSync(folder)
    .filter((name) => !name.startsWith("."))
    .sort()
    .map((name) => `${name}=${readFileSync(join(folder, name), "utf8")}`)
    .join("\n");

/** What can be done with `a.txt` of a lab. */
const acts: Record<string, (contents: Contents, at: string) => Promise<unknown>> = {
  read: async (c, at) => await c.get(`${at}a.txt`, { hash: true }),
  save: async (c, at) =>
    await c.save(`${at}a.txt`, { type: "file", format: "text", content: "mine" }),
  append: async (c, at) =>
    await c.save(`${at}a.txt`, { type: "file", format: "text", content: "mine", chunk: 2 }),
  "make a folder": async (c, at) => await c.save(`${at}made`, { type: "directory" }),
  create: async (c, at) => await c.create(at, "file", ".txt"),
  copy: async (c, at) => await c.copy(`${at}a.txt`, at),
  rename: async (c, at) => await c.rename(`${at}a.txt`, `${at}b.txt`),
  delete: async (c, at) => await c.delete(`${at}a.txt`),
  "make a checkpoint": async (c, at) => await c.checkpoints.create(`${at}a.txt`),
  "list checkpoints": async (c, at) => await c.checkpoints.list(`${at}a.txt`),
  restore: async (c, at) => await c.checkpoints.restore(`${at}a.txt`, "checkpoint"),
  "delete a checkpoint": async (c, at) => await c.checkpoints.delete(`${at}a.txt`, "checkpoint"),
};

const plants: Record<string, (inside: string, outside: string) => void> = {
  "the folder of checkpoints is a link": (inside, outside) =>
    symlinkSync(outside, join(inside, ".ipynb_checkpoints")),
  "a checkpoint is a link": (inside, outside) => {
    mkdirSync(join(inside, ".ipynb_checkpoints"));
    const planted = join(inside, ".ipynb_checkpoints", "a-checkpoint.txt");
    symlinkSync(join(outside, "a-checkpoint.txt"), planted);
  },
  "a checkpoint is a link to where nothing is": (inside, outside) => {
    mkdirSync(join(inside, ".ipynb_checkpoints"));
    const planted = join(inside, ".ipynb_checkpoints", "a-checkpoint.txt");
    symlinkSync(join(outside, "new.txt"), planted);
  },
};

for (const [plant, put] of Object.entries(plants)) {
  for (const [name, act] of Object.entries(acts)) {
    test(
      `where ${plant}, to ${name} stays inside`,
      { skip: process.platform === "win32" },
      async () => {
        const { inside, outside } = twoFolders();
        writeFileSync(join(inside, "a.txt"), "inside");
        put(inside, outside);
        const before = stateOf(outside);
        const contents = new Contents(inside);
        await act(contents, "").catch((error: unknown) => {
          assert.ok(toErrorResponse(error).status < 500, String(error));
        });
        assert.equal(stateOf(outside), before);
        for (const file of ["a.txt", "b.txt"]) {
          if (existsSync(join(inside, file)))
            assert.doesNotMatch(readFileSync(join(inside, file), "utf8"), /secret/);
        }
      },
    );
  }
}

test(
  "deleting a folder leaves what its planted checkpoints lead to",
  { skip: process.platform === "win32" },
  async () => {
    const { inside, outside } = twoFolders();
    mkdirSync(join(inside, "d"));
    symlinkSync(outside, join(inside, "d", ".ipynb_checkpoints"));
    const before = stateOf(outside);
    await new Contents(inside).delete("d");
    assert.ok(!existsSync(join(inside, "d")));
    assert.equal(stateOf(outside), before);
  },
);

test(
  "a link of a plain name shows nothing that is hidden",
  { skip: process.platform === "win32" },
  async () => {
    const { inside } = twoFolders();
    mkdirSync(join(inside, ".ssh"));
    writeFileSync(join(inside, ".ssh", "id"), "secret");
    symlinkSync(".ssh", join(inside, "keys"));
    symlinkSync(join(".ssh", "id"), join(inside, "key"));
    const contents = new Contents(inside);
    for (const path of ["keys", "keys/id", "key"]) {
      await assert.rejects(
        contents.get(path),
        (error) => toErrorResponse(error).status === 404,
        path,
      );
    }
    assert.deepEqual((await contents.get("")).content, []);
  },
);

test(
  "links within the folder are followed, and stay links when they are saved",
  { skip: process.platform === "win32" },
  async () => {
    const { inside } = twoFolders();
    mkdirSync(join(inside, "d"));
    writeFileSync(join(inside, "d", "a.txt"), "one");
    symlinkSync(join("d", "a.txt"), join(inside, "to.txt"));
    symlinkSync("d", join(inside, "e"));
    const contents = new Contents(inside);
    assert.equal((await contents.get("to.txt")).content, "one");
    await contents.save("to.txt", { type: "file", format: "text", content: "two" });
    assert.ok(lstatSync(join(inside, "to.txt")).isSymbolicLink());
    assert.equal((await contents.get("e/a.txt")).content, "two");
    await contents.delete("to.txt");
    assert.equal(readFileSync(join(inside, "d", "a.txt"), "utf8"), "two");
  },
);

test(
  "pipes and devices are refused and hold nobody up",
  { skip: process.platform === "win32" },
  async () => {
    const { inside } = twoFolders();
    mkdirSync(join(inside, ".ipynb_checkpoints"));
    writeFileSync(join(inside, "a.txt"), "inside");
    for (const at of ["pipe.txt", ".ipynb_checkpoints/a-checkpoint.txt"])
      assert.equal(spawnSync("mkfifo", [join(inside, at)]).status, 0);
    const contents = new Contents(inside);
    const save = { type: "file", format: "text", content: "x" };
    const tries: (() => Promise<unknown>)[] = [
      () => contents.get("pipe.txt"),
      () => contents.get("pipe.txt", { hash: true, content: false }),
      () => contents.save("pipe.txt", save),
      () => contents.save("pipe.txt", { ...save, chunk: 2 }),
      () => contents.copy("pipe.txt", ""),
      () => contents.checkpoints.create("pipe.txt"),
      () => contents.checkpoints.restore("a.txt", "checkpoint"),
    ];
    for (const attempt of tries) {
      await assert.rejects(attempt, (error) => [400, 404].includes(toErrorResponse(error).status));
    }
    assert.deepEqual(
      ((await contents.get("")).content as { name: string }[]).map(({ name }) => name),
      ["a.txt"],
    );
  },
);

/** Swaps a folder for a link to the outside and back, in a process of its own, until it is killed. */
const swapper = `
const { renameSync, symlinkSync, unlinkSync, rmSync } = require("node:fs");
const [folder, outside] = process.argv.slice(1);
process.stdout.write("ready");
for (;;) {
  try { renameSync(folder, folder + ".away"); } catch {}
  try { symlinkSync(outside, folder); } catch {}
  for (let i = 0; i < 2e4; i++);
  try { unlinkSync(folder); } catch {}
  try { renameSync(folder + ".away", folder); } catch {}
  // Long enough, now and then, for something to be done in it.
  if (Math.random() < 0.1) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 30);
  for (let i = 0; i < 2e4; i++);
}`;

for (const [how, hold] of Object.entries({ descriptor: holdFolder, path: holdFolderByPath })) {
  // Without descriptors what makes, renames and removes is checked before and after, not held.
  // A save may leave its lock behind in the folder that was taken away, and the next one waits for it.
  const names =
    how === "descriptor" ? Object.keys(acts) : [...Array<string>(50).fill("read"), "save"];
  test(
    `a folder that is swapped for a link all the while leads nobody outside, by ${how}`,
    { skip: process.platform === "win32" },
    async () => {
      const { inside, outside } = twoFolders();
      const folder = join(inside, "d");
      mkdirSync(folder);
      const before = stateOf(outside);
      const swapping = spawn(process.execPath, ["-e", swapper, folder, outside]);
      const ended = once(swapping, "exit"); // also where it ends by itself
      await once(swapping.stdout, "data");
      try {
        const contents = new Contents(inside, { paths: new Paths(inside, hold) });
        let done = 0;
        for (const until = Date.now() + 4000; Date.now() < until || done === 0;) {
          for (const name of names) {
            try {
              const given = await acts[name]!(contents, "d/");
              done++;
              assert.doesNotMatch(JSON.stringify(given ?? ""), /secret/, name);
            } catch (error) {
              if (error instanceof assert.AssertionError) throw error;
            }
          }
          assert.equal(stateOf(outside), before);
          if (how === "descriptor") assert.equal(readdirSync(outside).length, 2);
        }
        assert.ok(done > 0, "nothing was done in between");
      } finally {
        swapping.kill("SIGKILL");
        await ended;
      }
    },
  );
}

test("two labs that save at the same instant with one hash: one is told of the other", async () => {
  const { inside } = twoFolders();
  writeFileSync(join(inside, "a.txt"), "0");
  const labs = [new Contents(inside), new Contents(inside)];
  for (let turn = 1; turn <= 25; turn++) {
    const { hash } = await labs[0]!.get("a.txt", { hash: true, content: false });
    const ends = await Promise.allSettled(
      labs.map(async (lab, n) => {
        const content = `${turn} of ${n}`;
        await lab.save("a.txt", { type: "file", format: "text", content, hash: hash! });
        return content;
      }),
    );
    const saved = ends.flatMap((end) => (end.status === "fulfilled" ? [end.value] : []));
    assert.equal(saved.length, 1);
    assert.equal(readFileSync(join(inside, "a.txt"), "utf8"), saved[0]);
  }
  const made = await Promise.all(labs.map(async (lab) => await lab.create("")));
  assert.notEqual(made[0]!.path, made[1]!.path);
  assert.deepEqual(readdirSync(inside).sort(), ["a.txt", "untitled", "untitled1"]);
});

test("the lock of a lab that was killed holds up nobody", async () => {
  const { inside } = twoFolders();
  writeFileSync(join(inside, "a.txt"), "0");
  const { pid } = spawnSync(process.execPath, ["-e", ""]);
  writeFileSync(join(inside, ".a.txt.lock"), `${hostname()} ${pid}`);
  await new Contents(inside).save("a.txt", { type: "file", format: "text", content: "1" });
  assert.deepEqual(readdirSync(inside), ["a.txt"]);
  assert.equal(readFileSync(join(inside, "a.txt"), "utf8"), "1");
});

test("another name of the same file is in the way of a rename, and both stay", async () => {
  const { inside } = twoFolders();
  writeFileSync(join(inside, "a.txt"), "one");
  linkSync(join(inside, "a.txt"), join(inside, "b.txt"));
  const renaming = new Contents(inside).rename("a.txt", "b.txt");
  await assert.rejects(renaming, (error) => toErrorResponse(error).status === 409);
  assert.deepEqual(readdirSync(inside), ["a.txt", "b.txt"]);
});

test("a folder whose checkpoints hold a folder is not deleted, and nothing of it is", async () => {
  const { inside } = twoFolders();
  mkdirSync(join(inside, "d", ".ipynb_checkpoints", "sub"), { recursive: true });
  writeFileSync(join(inside, "d", ".ipynb_checkpoints", "a-checkpoint.txt"), "kept");
  const deleting = new Contents(inside).delete("d");
  await assert.rejects(deleting, (error) => toErrorResponse(error).status === 400);
  const left = readdirSync(join(inside, "d", ".ipynb_checkpoints"));
  assert.deepEqual(left.sort(), ["a-checkpoint.txt", "sub"]);
});

test("a notebook that is nested without end is refused in words, read and saved", async () => {
  const { inside } = twoFolders();
  const deep = `${"[".repeat(50_000)}${"]".repeat(50_000)}`;
  const withMetadata = (inner: string) =>
    `{"cells":[],"metadata":{"x":${inner}},"nbformat":4,"nbformat_minor":5}`;
  const contents = new Contents(inside);
  for (const [name, text] of [
    ["list.ipynb", deep],
    ["metadata.ipynb", withMetadata(deep)],
  ] as const) {
    writeFileSync(join(inside, name), text);
    await assert.rejects(contents.get(name), { message: /at most 500 lists and objects/ }, name);
  }
  const content = JSON.parse(withMetadata(deep)) as unknown;
  const saving = contents.save("b.ipynb", { type: "notebook", content });
  await assert.rejects(saving, { message: /at most 500 lists and objects/ });
});
