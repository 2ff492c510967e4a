// A tab's files: a tree in memory, with Node's names for what can be done with it.
import type * as node from "../node/files.js";
import { resolve } from "./path.js";
import { statOf } from "./tree/file-tree.js";
import { fault } from "./tree/fault.js";
import { OpenFiles, settled } from "./tree/open-files.js";
import { tree } from "./tree/own-tree.js";

const opened = new OpenFiles(tree);
const bytesOf = (data: string | Uint8Array) =>
  typeof data === "string" ? new TextEncoder().encode(data) : data;

function write(path: string, data: string | Uint8Array, from: "start" | "end"): void {
  const file = tree.madeFile(path, "open");
  if (from === "start") file.truncate(0);
  file.write(bytesOf(data), file.size);
  tree.changed(resolve(path));
}

const decoder = new TextDecoder(undefined, { ignoreBOM: true });
function read(path: string): Uint8Array<ArrayBuffer>;
function read(path: string, encoding: "utf8" | undefined): string | Uint8Array<ArrayBuffer>;
function read(path: string, encoding?: "utf8"): string | Uint8Array<ArrayBuffer> {
  const bytes = tree.file(path, "open").all();
  return encoding === undefined ? bytes : decoder.decode(bytes);
}

export const readFileSync = read as typeof node.readFileSync;
export const readFile = ((path: string, encoding?: "utf8") =>
  settled(() => read(path, encoding))) as typeof node.readFile;
export const readdir = ((
  path: string,
  options: { recursive?: boolean; withFileTypes?: true } = {},
) =>
  settled(() =>
    options.withFileTypes ? tree.entries(path) : tree.names(path, options.recursive),
  )) as typeof node.readdir;
export const readdirSync: typeof node.readdirSync = (path, options) =>
  tree.names(path, options?.recursive);

export const writeFileSync: typeof node.writeFileSync = (path, data) => {
  if (typeof path === "string") write(path, data, "start");
  else opened.write(path, bytesOf(data));
};
export const writeFile: typeof node.writeFile = (path, data) =>
  settled(() => write(path, data, "start"));
export const appendFile: typeof node.appendFile = (path, data) =>
  settled(() => write(path, data, "end"));

export const existsSync: typeof node.existsSync = (path) => {
  try {
    return tree.find(path, "access") !== undefined;
  } catch {
    return false; // a step of the path is a file
  }
};
export const access: typeof node.access = (path) => settled(() => void tree.get(path, "access"));
export const stat: typeof node.stat = (path) => settled(() => statOf(tree.get(path, "stat")));
export const statIfThereSync: typeof node.statIfThereSync = (path) => {
  const entry = tree.find(path, "stat");
  return entry && statOf(entry);
};
export const lstatIfThereSync: typeof node.lstatIfThereSync = statIfThereSync;

export const mkdirSync: typeof node.mkdirSync = (path, { recursive = false } = {}) =>
  tree.makeFolder(path, recursive);
export const mkdir: typeof node.mkdir = (path, options) => settled(() => mkdirSync(path, options));
export const renameSync: typeof node.renameSync = (from, to) => tree.move(from, to);
export const rename: typeof node.rename = (from, to) => settled(() => tree.move(from, to));
export const rmSync: typeof node.rmSync = (path, options) => tree.remove(path, options);
export const rm: typeof node.rm = (path, options) => settled(() => tree.remove(path, options));
export const copyFile: typeof node.copyFile = (from, to) =>
  settled(() => write(to, read(from), "start"));
export const copyNewFile: typeof node.copyNewFile = (from, to) =>
  settled(() => {
    if (tree.find(to, "copyfile")) throw fault("EEXIST", "copyfile", from, to);
    write(to, read(from), "start");
  });
export const rmdir: typeof node.rmdir = (path) =>
  settled(() => {
    if (tree.folder(path, "rmdir").entries.size > 0) throw fault("ENOTEMPTY", "rmdir", path);
    tree.remove(path, { recursive: true });
  });
export const isWritable: typeof node.isWritable = (path) => settled(() => existsSync(path));
export const truncate: typeof node.truncate = (path, length) =>
  settled(() => {
    tree.file(path, "open").truncate(length);
    tree.changed(resolve(path));
  });

/** There are no links here: what is there is where it says it is. */
export const isLinkSync: typeof node.isLinkSync = () => false;
export const realpathSync: typeof node.realpathSync = (path) => {
  tree.get(path, "realpath");
  return resolve(path);
};
export const realpath: typeof node.realpath = (path) => settled(() => realpathSync(path));

export const readNoFollow: typeof node.readNoFollow = 0;
export const appendNoFollow: typeof node.appendNoFollow = 1;
/** A tab has Node's flags in words only. */
const words: Record<number, string> = { [readNoFollow]: "r", [appendNoFollow]: "a" };
const named = (flags: string | number): string =>
  typeof flags === "string" ? flags : (words[flags] ?? "r");
export const openSync: typeof node.openSync = (path, flags) => opened.open(path, named(flags));
export const open: typeof node.open = (path, flags = "r") =>
  settled(() => opened.handle(opened.open(path, named(flags))));
export const closeSync: typeof node.closeSync = (fd) => opened.close(fd);
export const fstatSync: typeof node.fstatSync = (fd) => opened.stat(fd);
export const readSync: typeof node.readSync = (fd, into, offset, length, position) =>
  opened.read(fd, into, offset, length, position);
export const writeSync: typeof node.writeSync = (fd, data) => opened.write(fd, data);
/** What is in memory is nowhere else. */
export const fsyncSync: typeof node.fsyncSync = () => undefined;
export const syncFile: typeof node.syncFile = () => Promise.resolve();
export const syncFolder: typeof node.syncFolder = () => Promise.resolve();
export const syncFolderSync: typeof node.syncFolderSync = () => undefined;

export { piecesOf } from "../pieces-of.js";

export async function* readPieces(path: string, signal?: AbortSignal): AsyncGenerator<Uint8Array> {
  const size = 1 << 20;
  const fd = opened.open(path, "r");
  try {
    for (let at = 0; ; at += size) {
      signal?.throwIfAborted();
      const piece = new Uint8Array(size);
      const count = opened.read(fd, piece, 0, size, at);
      if (count > 0) yield await Promise.resolve(piece.subarray(0, count));
      if (count < size) return;
    }
  } finally {
    opened.close(fd);
  }
}
