// The part of Node's files that the lab needs, with types that a tab's files in memory have as well.
import type { Bytes } from "../bytes.js";
import * as now from "node:fs";
import * as later from "node:fs/promises";
import { dirname, resolve } from "node:path";

export interface FileStat {
  readonly size: number;
  readonly ino: number;
  readonly dev: number;
  /** How many names it has. */
  readonly nlink: number;
  /** When it was written last, in milliseconds. */
  readonly mtimeMs: number;
  readonly birthtimeMs: number;
  readonly ctimeMs: number;
  /** Who may do what with it, and what it is. */
  readonly mode: number;
  isFile(): boolean;
  isDirectory(): boolean;
}

/** A name in a folder. */
export interface FolderEntry {
  readonly name: string;
  isFile(): boolean;
  isDirectory(): boolean;
  isSymbolicLink(): boolean;
}

/** A file that is open. */
export interface FileHandle {
  readonly fd: number;
  stat(): Promise<FileStat>;
  read(
    into: Uint8Array,
    offset: number,
    length: number,
    position: number,
  ): Promise<{ bytesRead: number }>;
  write(
    from: Uint8Array,
    offset?: number,
    length?: number,
    position?: number | null,
  ): Promise<{ bytesWritten: number }>;
  /** Writes on from where the last write ended. */
  writeFile(data: string | Uint8Array): Promise<void>;
  appendFile(data: string | Uint8Array): Promise<void>;
  sync(): Promise<void>;
  datasync(): Promise<void>;
  truncate(length: number): Promise<void>;
  close(): Promise<void>;
}

interface ReadFile {
  (path: string): Promise<Bytes>;
  (path: string, encoding: "utf8"): Promise<string>;
}
interface ReadFileSync {
  (path: string): Bytes;
  (path: string, encoding: "utf8"): string;
}
export interface ReadFolder {
  (path: string, options?: { recursive?: boolean }): Promise<string[]>;
  (path: string, options: { withFileTypes: true }): Promise<FolderEntry[]>;
}
interface MakeOptions {
  recursive?: boolean;
  /** Who may do what with those that are made. */
  mode?: number;
}

/** Makes a folder and those above it that are missing, each tried once. */
function makeFolders(path: string, mode: number | undefined): undefined {
  const make = (folder: string): "made" | "missing above" => {
    try {
      now.mkdirSync(folder, mode);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "ENOENT" && dirname(folder) !== folder) return "missing above";
      if (now.statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) throw error;
    }
    return "made";
  };
  const missing: string[] = [];
  for (let at = resolve(path); make(at) === "missing above"; at = dirname(at)) missing.push(at);
  for (const folder of missing.reverse()) {
    if (make(folder) === "missing above") now.mkdirSync(folder, mode); // says why
  }
}

type Path = (path: string) => Promise<void>;
type Write = (path: string, data: string | Uint8Array) => Promise<void>;
type Options = { recursive?: boolean; force?: boolean };

export const readFile: ReadFile = later.readFile;
export const writeFile: Write = later.writeFile;
export const appendFile: Write = later.appendFile;
export const readdir: ReadFolder = later.readdir;
export const stat: (path: string) => Promise<FileStat> = later.stat;
export const access: Path = later.access;
/** With `recursive`, the folders above as well: Node's own goes round for ever where none can be made, as in /proc. */
export const mkdir = async (path: string, options: MakeOptions = {}): Promise<unknown> =>
  options.recursive === true ? makeFolders(path, options.mode) : await later.mkdir(path, options);
export const rename: (from: string, to: string) => Promise<void> = later.rename;
export const copyFile: (from: string, to: string) => Promise<void> = later.copyFile;
/** Refuses to write over anything. */
export const copyNewFile = (from: string, to: string): Promise<void> =>
  later.copyFile(from, to, now.constants.COPYFILE_EXCL);
export const rmdir: Path = later.rmdir;
/** Whether who asks may write to it. */
export const isWritable = (path: string): Promise<boolean> =>
  later.access(path, now.constants.W_OK).then(
    () => true,
    () => false,
  );
export const rm: (path: string, options?: Options) => Promise<void> = later.rm;
export const truncate: (path: string, length: number) => Promise<void> = later.truncate;
export const realpath: (path: string) => Promise<string> = later.realpath;
/** Flags: how Node names them (`r`, `r+`, `a`, `wx`), or its numbers. */
export const open: (path: string, flags?: string | number, mode?: number) => Promise<FileHandle> =
  later.open;

export const existsSync: (path: string) => boolean = now.existsSync;
export const readFileSync: ReadFileSync = now.readFileSync;
/** Takes the number of an open file as well. */
export const writeFileSync: (path: string | number, data: string | Uint8Array) => void =
  now.writeFileSync;
export const readdirSync = (path: string, options: { recursive?: boolean } = {}): string[] =>
  now.readdirSync(path, { ...options, encoding: "utf8" });
/** As `stat`, and undefined where nothing has that name. */
export const statIfThereSync = (path: string): FileStat | undefined =>
  now.statSync(path, { throwIfNoEntry: false });
export function mkdirSync(path: string, options: MakeOptions = {}): unknown {
  if (options.recursive !== true) return now.mkdirSync(path, options);
  makeFolders(path, options.mode);
  return undefined;
}
export const renameSync: (from: string, to: string) => void = now.renameSync;
export const rmSync: (path: string, options?: Options) => void = now.rmSync;
/** Whether there is a link of this name, whatever it leads to. */
export const isLinkSync = (path: string): boolean =>
  now.lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
export const realpathSync: (path: string) => string = now.realpathSync;
export const openSync: (path: string, flags: string | number, mode?: number) => number =
  now.openSync;
export const closeSync: (fd: number) => void = now.closeSync;
export const fstatSync: (fd: number) => FileStat = now.fstatSync;
export const readSync: (
  fd: number,
  into: Uint8Array,
  offset: number,
  length: number,
  position: number | null,
) => number = now.readSync;
export const writeSync: (fd: number, data: Uint8Array) => number = now.writeSync;
export const fsyncSync: (fd: number) => void = now.fsyncSync;

/** Windows syncs what is open for writing only. */
const toSync = process.platform === "win32" ? "r+" : "r";
/** Puts a file on disk that was written and closed. */
export async function syncFile(path: string): Promise<void> {
  const file = await later.open(path, toSync);
  await file.sync().finally(() => file.close());
}
/** What a disk says that keeps folders in an order of its own. */
const hasOwnOrder = (error: unknown): boolean =>
  ["EINVAL", "ENOTSUP", "ENOSYS", "EISDIR"].includes((error as NodeJS.ErrnoException).code ?? "");
/** Puts the names in a folder on disk: those that were made, moved or removed. */
export async function syncFolder(path: string): Promise<void> {
  if (process.platform === "win32") return; // a folder cannot be opened there
  const folder = await later.open(path, "r");
  try {
    await folder.sync();
  } catch (error) {
    if (!hasOwnOrder(error)) throw error;
  } finally {
    await folder.close();
  }
}
export function syncFolderSync(path: string): void {
  if (process.platform === "win32") return;
  const folder = now.openSync(path, "r");
  try {
    now.fsyncSync(folder);
  } catch (error) {
    if (!hasOwnOrder(error)) throw error;
  } finally {
    now.closeSync(folder);
  }
}

/** What has that name itself, a link included; undefined where nothing has it. */
export const lstatIfThereSync = (path: string): FileStat | undefined =>
  now.lstatSync(path, { throwIfNoEntry: false });
/** To read a file where it is, not what a link or a pipe of its name would lead to. */
export const readNoFollow: number =
  now.constants.O_RDONLY | (now.constants.O_NOFOLLOW ?? 0) | (now.constants.O_NONBLOCK ?? 0);
/** To write on at a file's end, under the same rule. */
export const appendNoFollow: number =
  (readNoFollow & ~now.constants.O_RDONLY) |
  now.constants.O_WRONLY |
  now.constants.O_APPEND |
  now.constants.O_CREAT;

export { piecesOf } from "../pieces-of.js";

/** A file's bytes, piece by piece. */
export function readPieces(path: string, signal?: AbortSignal): AsyncIterable<Uint8Array> {
  return now.createReadStream(path, { highWaterMark: 1 << 20, ...(signal ? { signal } : {}) });
}
