// Preloaded into a process whose power is to be cut: writes down what it puts on disk below a folder, as a disk
// without battery keeps it. A file has the contents of its last `fsync`, a folder the names of its last `fsync`.
// Before and after every rename and removal, and wherever the program says what it has acknowledged, the trace has
// the tree as it is then. Several processes may write one trace.
import { createHash } from "node:crypto";
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import type { Event, Names } from "./survivors.js";

const { root, trace } = JSON.parse(process.env["POWER_CUT"]!) as { root: string; trace: string };
const own = { ...fs };
const log = join(trace, "events.jsonl");
const tell = (event: Event) => own.appendFileSync(log, `${JSON.stringify(event)}\n`);

/** What stays the same while a file has this or that name. A number of its own is given to another file once it is gone. */
const keyOf = ({ ino, birthtimeNs }: fs.BigIntStats): string => `${ino}-${birthtimeNs}`;

function keep(bytes: Uint8Array): string {
  const name = createHash("sha256").update(bytes).digest("hex").slice(0, 24);
  if (!own.existsSync(join(trace, name))) own.writeFileSync(join(trace, name), bytes);
  return name;
}

function namesIn(folder: string): Names {
  const names: Names = {};
  for (const name of own.readdirSync(folder)) {
    const status = own.lstatSync(join(folder, name), { bigint: true, throwIfNoEntry: false });
    if (status) names[name] = { key: keyOf(status), isFolder: status.isDirectory() };
  }
  return names;
}

function treeOf(folder: string, tree: Record<string, Names> = {}): Record<string, Names> {
  const status = own.lstatSync(folder, { bigint: true, throwIfNoEntry: false });
  if (!status) return tree;
  const names = namesIn(folder);
  tree[keyOf(status)] = names;
  for (const [name, { isFolder }] of Object.entries(names)) {
    if (isFolder) treeOf(join(folder, name), tree);
  }
  return tree;
}

const rootKey = keyOf(own.lstatSync(root, { bigint: true }));
const isBelow = (path: string) => path === root || path.startsWith(`${root}/`);

function synced(fd: number): void {
  const place = `/proc/self/fd/${fd}`;
  if (!isBelow(own.readlinkSync(place))) return;
  const status = own.fstatSync(fd, { bigint: true });
  const key = keyOf(status);
  if (status.isDirectory()) tell({ folder: key, names: namesIn(place) });
  else tell({ file: key, bytes: keep(own.readFileSync(place)) });
}

const cut = (why: string) => tell({ cut: why, root: rootKey, tree: treeOf(root) });
/** For the program: from here on somebody counts on it. */
const acknowledge = (what: unknown) => {
  tell({ acknowledged: what });
  cut("acknowledged");
};
Object.assign(globalThis, { acknowledge });

/** Every step of a removal may be the last. */
function remove(path: string, options: fs.RmOptions = {}): void {
  const status = own.lstatSync(path, { throwIfNoEntry: false });
  if (status === undefined && options.force === true) return;
  if (status?.isDirectory() !== true) {
    cut(`before rm ${path}`);
    own.unlinkSync(path);
    cut(`after rm ${path}`);
    return;
  }
  if (options.recursive !== true) return own.rmSync(path, options); // says why not
  for (const name of own.readdirSync(path)) remove(join(path, name), options);
  own.rmdirSync(path);
  cut(`after rmdir ${path}`);
}

function move(from: fs.PathLike, to: fs.PathLike): void {
  cut(`before rename ${String(to)}`);
  own.renameSync(from, to);
  cut(`after rename ${String(to)}`);
}

const later =
  <A extends unknown[]>(act: (...given: A) => void) =>
  async (...given: A): Promise<void> =>
    act(...given);

Object.assign(fs, {
  fsyncSync: (fd: number) => (own.fsyncSync(fd), synced(fd)),
  fdatasyncSync: (fd: number) => (own.fdatasyncSync(fd), synced(fd)),
  renameSync: move,
  rmSync: remove,
  unlinkSync: (path: string) => remove(path),
});
Object.assign(fs.promises, {
  rename: later(move),
  rm: later(remove),
  unlink: later((path: string) => remove(path)),
});
const handle = await fs.promises.open(trace, "r");
const shared = Object.getPrototypeOf(handle) as fs.promises.FileHandle;
await handle.close();
for (const name of ["sync", "datasync"] as const) {
  const sync = shared[name];
  shared[name] = async function (this: fs.promises.FileHandle) {
    await sync.call(this);
    synced(this.fd);
  };
}
syncBuiltinESMExports();
// What was there before the first process began.
if (!own.existsSync(log))
  for (const [folder, names] of Object.entries(treeOf(root))) tell({ folder, names });
