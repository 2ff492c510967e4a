import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import * as tab from "../../common/platform/browser/files.js";
import * as node from "../../common/platform/node/files.js";

type Files = typeof node;

/** Whole numbers that look random and are the same every time. */
function* numbers(seed: number): Generator<number, never> {
  for (let x = seed; ;) {
    x = (Math.imul(x, 1664525) + 1013904223) >>> 0;
    yield x >>> 8;
  }
}

/** What a call gives, or the code of what it throws; bytes as a list. */
async function told(call: () => unknown): Promise<unknown> {
  try {
    const value = await call();
    if (value instanceof Uint8Array) return [...value];
    return value;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code;
  }
}

const shape = (entry: node.FileStat | undefined) =>
  entry && [entry.isFile(), entry.isDirectory(), entry.isFile() ? entry.size : 0];

/** One thing that can be done to files, chosen by numbers. */
function action(files: Files, root: string, next: () => number): () => unknown {
  const names = ["a", "b", "a/x", "b/y", "a/x/z", "c"];
  const path = () => join(root, names[next() % names.length]!);
  const [one, two, text] = [path(), path(), "é".repeat(next() % 5)];
  const flags = ["r", "r+", "w", "a", "wx", "a+"][next() % 6]!;
  const recursive = next() % 2 === 0;
  const actions = [
    () => files.writeFile(one, text),
    () => files.appendFile(one, text),
    () => files.readFile(one, "utf8"),
    () => files.readFile(one),
    () => files.mkdir(one, { recursive }).then(() => undefined),
    () => files.rename(one, two).catch(() => "refused"), // which of several reasons is told differs
    () => files.rm(one, { recursive, force: next() % 2 === 0 }),
    async () =>
      // Of a folder Node makes a file in its place, fails, and removes it.
      (await files.stat(one)).isFile() && files.copyFile(one, two).catch(() => "refused"),
    () => files.truncate(one, next() % 7),
    async () => shape(await files.stat(one)),
    () => files.existsSync(one),
    async () =>
      (await files.readdir(one, { recursive })).map((name) => name.split("\\").join("/")).sort(),
    async () =>
      (await files.readdir(root, { withFileTypes: true })).map((e) => [e.name, e.isFile()]).sort(),
    async () => {
      const file = await files.open(one, flags);
      try {
        await file.writeFile(text);
        await file.appendFile("!");
        const into = new Uint8Array(4);
        const { bytesRead } = await file.read(into, 1, 3, next() % 3);
        return [bytesRead, ...into, shape(await file.stat())];
      } finally {
        await file.close();
      }
    },
    () => {
      const fd = files.openSync(one, "a+");
      try {
        const into = new Uint8Array(3);
        return [
          files.writeSync(fd, Uint8Array.of(1, 2)),
          files.readSync(fd, into, 0, 3, 0),
          ...into,
        ];
      } finally {
        files.closeSync(fd);
      }
    },
    async () => {
      let length = 0;
      for await (const piece of files.readPieces(one)) length += piece.length;
      return length;
    },
  ];
  return actions[next() % actions.length]!;
}

test("files in memory do what files on a disk do, their errors included", async () => {
  for (let seed = 1; seed <= 12; seed++) {
    const folder = mkdtempSync(join(tmpdir(), "files-"));
    await tab.mkdir(folder, { recursive: true });
    const [here, there] = [numbers(seed), numbers(seed)];
    try {
      for (let i = 0; i < 200; i++) {
        const [disk, memory] = [
          action(node, folder, () => here.next().value),
          action(tab, folder, () => there.next().value),
        ];
        const wanted = await told(disk);
        assert.deepEqual(await told(memory), wanted, `seed ${seed}, action ${i}: ${String(disk)}`);
      }
    } finally {
      rmSync(folder, { recursive: true });
      await tab.rm(folder, { recursive: true });
    }
  }
});

test("a file that is open when another takes its name is still the old one", async () => {
  await tab.mkdir("/t", { recursive: true });
  const fd = tab.openSync("/t/log", "a+");
  tab.writeSync(fd, Uint8Array.of(1));
  tab.writeFileSync("/t/new", "x");
  const before = tab.statIfThereSync("/t/log")!.ino;
  assert.equal(tab.fstatSync(fd).ino, before);
  tab.renameSync("/t/new", "/t/log");
  assert.notEqual(tab.statIfThereSync("/t/log")!.ino, before);
  tab.writeSync(fd, Uint8Array.of(2));
  assert.equal(tab.readFileSync("/t/log", "utf8"), "x");
  tab.closeSync(fd);
  assert.throws(() => tab.fstatSync(fd), { code: "EBADF" });
});

test("what was read from memory is no longer the file", async () => {
  await tab.mkdir("/u", { recursive: true });
  await tab.writeFile("/u/a", Uint8Array.of(1, 2, 3));
  const bytes = await tab.readFile("/u/a");
  bytes[0] = 9;
  assert.deepEqual([...(await tab.readFile("/u/a"))], [1, 2, 3]);
});

test("folders that cannot be made are refused, and nobody waits for ever", async (t) => {
  const base = mkdtempSync(join(tmpdir(), "made-"));
  const deep = join(base, "a", "b", "c");
  await node.mkdir(deep, { recursive: true });
  node.mkdirSync(deep, { recursive: true });
  writeFileSync(join(deep, "file"), "");
  for (const path of [join(deep, "file"), join(deep, "file", "x")]) {
    const refused = { code: path.endsWith("x") ? "ENOTDIR" : "EEXIST" };
    assert.throws(() => node.mkdirSync(path, { recursive: true }), refused);
    await assert.rejects(node.mkdir(path, { recursive: true }), refused);
  }
  rmSync(base, { recursive: true });
  if (process.platform !== "linux") return t.diagnostic("no /proc here");
  for (const path of ["/proc/self/x", "/proc/self/x/y", "/proc/x/y"]) {
    assert.throws(() => node.mkdirSync(path, { recursive: true }), { code: "ENOENT" });
    await assert.rejects(node.mkdir(path, { recursive: true }), { code: "ENOENT" });
  }
});
