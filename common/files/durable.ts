// The one way to write what a power cut must not take back. A file is written beside its place and synced, takes its
// place by a rename, and the folder is synced, for a rename is on disk only then. A tab's disk has no such order: there
// the same calls write whole files.
import {
  closeSync,
  type FileHandle,
  fsyncSync,
  mkdir,
  mkdirSync,
  open,
  openSync,
  readdir,
  rename,
  renameSync,
  rm,
  rmSync,
  stat,
  statIfThereSync,
  syncFile,
  syncFolder,
  syncFolderSync,
  writeFileSync,
} from "#platform/files";
import { basename, dirname, join, resolve } from "#platform/path";
import { randomUUID } from "#platform/uuid";

/** How names end that are no part of a folder yet, or no longer: whoever owns the folder may remove them. */
export const unfinished = ".tmp";

/** A name beside another, hidden from lists of files. */
const beside = (path: string): string =>
  join(dirname(path), `.${basename(path)}.${randomUUID().slice(0, 8)}${unfinished}`);

/** A file written beside its final place, on disk already, waiting to take that place or to go. */
export interface StagedFile {
  readonly path: string;
  commit(): Promise<void>;
  discard(): Promise<void>;
}

/**
 * Writes a file under another name and lets it take its place in one step, so that nobody, not even
 * after a power cut, sees half of it. Several files can be staged first and committed together.
 */
export async function stageFile(
  path: string,
  write: (file: FileHandle) => Promise<void>,
  mode?: number,
): Promise<StagedFile> {
  const temporary = beside(path);
  const discard = () => rm(temporary, { force: true });
  const file = await open(temporary, "wx", mode);
  try {
    await write(file);
    await file.sync();
  } catch (error) {
    await file.close();
    await discard();
    throw error;
  }
  await file.close();
  return {
    path,
    discard,
    async commit() {
      try {
        await rename(temporary, path);
      } catch (error) {
        await discard();
        throw error;
      }
      await syncFolder(dirname(path));
    },
  };
}

/** Writes a whole file: after a power cut it is the old one or the new one, and once this is done the new one. */
export async function writeDurably(
  path: string,
  data: string | Uint8Array,
  mode?: number,
): Promise<void> {
  await (await stageFile(path, (file) => file.writeFile(data), mode)).commit();
}

/** The same at once. `check` throws where the file must not be written any more. */
export function writeDurablySync(
  path: string,
  data: string | Uint8Array,
  { mode, check }: { mode?: number | undefined; check?: (() => void) | undefined } = {},
): void {
  const temporary = beside(path);
  const file = openSync(temporary, "wx", mode);
  try {
    try {
      writeFileSync(file, data);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    check?.();
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
  syncFolderSync(dirname(path));
}

/** Writes on at a file's end and waits until it is on disk. */
export async function appendDurably(path: string, data: string | Uint8Array): Promise<void> {
  const file = await open(path, "a");
  let isNew: boolean;
  try {
    isNew = (await file.stat()).size === 0;
    await file.appendFile(data);
    await file.datasync();
  } finally {
    await file.close();
  }
  if (isNew) await syncFolder(dirname(path));
}

/**
 * Makes a folder and those above it, each on disk. Node's own `recursive` reports ENOENT where the file system cannot
 * be written; this reports what is the matter.
 */
export async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" && dirname(path) !== path) {
      await makeFolder(dirname(path));
      await mkdir(path);
    } else if (code !== "EEXIST" || !(await stat(path)).isDirectory()) throw error;
    else return;
  }
  await syncFolder(dirname(resolve(path)));
}

/** The same at once. */
export function makeFolderSync(path: string, mode?: number): void {
  const missing: string[] = [];
  for (let at = resolve(path); statIfThereSync(at) === undefined; at = dirname(at))
    missing.push(at);
  for (const folder of missing.reverse()) {
    mkdirSync(folder, { recursive: true, ...(mode === undefined ? {} : { mode }) });
    syncFolderSync(dirname(folder));
  }
}

/** What a folder is called that another takes the place of, until that is on disk. */
const replaced = (path: string): string => `${path}.replaced`;

/**
 * Lets a folder take a name, in place of one of that name. Everything in it is on disk before.
 * @param from the folder, in the folder that `to` is in
 */
export async function publishFolder(from: string, to: string): Promise<void> {
  await syncTree(from);
  const old = replaced(to);
  const isThere = statIfThereSync(to) !== undefined;
  if (isThere) {
    await rm(old, { recursive: true, force: true });
    await rename(to, old);
  }
  await rename(from, to);
  await syncFolder(dirname(to));
  if (isThere) await rm(old, { recursive: true });
}

/** Removes from a folder what a process that was killed left unfinished, and puts back what it had not replaced yet. */
export async function tidyFolder(folder: string): Promise<void> {
  const names = await readdir(folder);
  for (const name of names) {
    const path = join(folder, name);
    if (name.endsWith(unfinished)) await rm(path, { recursive: true, force: true });
    const of = name.replace(/\.replaced$/, "");
    if (of === name) continue;
    if (names.includes(of)) await rm(path, { recursive: true });
    else await rename(path, join(folder, of));
  }
}

/** Removes a folder so that no part of it is left under its name. */
export async function removeFolder(path: string): Promise<void> {
  const away = beside(path);
  await rename(path, away);
  await syncFolder(dirname(path));
  await rm(away, { recursive: true });
}

/** Puts a folder on disk with everything in it. */
async function syncTree(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await syncTree(path);
    else if (entry.isFile()) await syncFile(path);
  }
  await syncFolder(folder);
}

/** What kept something from being written, in words. */
export function writeFault(error: unknown, doing: string): Error {
  const { code, message } = error as NodeJS.ErrnoException;
  const why =
    code === "ENOSPC"
      ? "the disk is full"
      : code === "EACCES" || code === "EROFS" || code === "EPERM"
        ? "the folder cannot be written"
        : message;
  return new Error(`Cannot ${doing}: ${why}${code ? ` (${code})` : ""}`, { cause: error });
}
