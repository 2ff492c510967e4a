import type { FileStat, FolderEntry } from "../../node/files.js";
import { dirname, resolve } from "../path.js";
import { fault } from "./fault.js";
import { MemoryFile, MemoryFolder } from "./memory-file.js";

type Entry = MemoryFile | MemoryFolder;

const parted = (path: string) => resolve(path).split("/").filter(Boolean);

/** What is told of an entry. */
export const statOf = (entry: Entry): FileStat => ({
  size: entry.size,
  ino: entry.ino,
  dev: 0,
  nlink: 1,
  mtimeMs: entry.written,
  birthtimeMs: entry.made,
  ctimeMs: entry.written,
  mode: 0o666,
  isFile: () => entry.kind === "file",
  isDirectory: () => entry.kind === "folder",
});

/** Files and folders in memory, by absolute paths. */
export class FileTree {
  readonly #root = new MemoryFolder();
  /** Told of every path that was written, moved away or removed. */
  changed: (path: string) => void = () => undefined;

  /** What has this path; undefined where nothing has. */
  find(path: string, call: string): Entry | undefined {
    let at: Entry = this.#root;
    for (const name of parted(path)) {
      if (at.kind === "file") throw fault("ENOTDIR", call, path);
      const next: Entry | undefined = at.entries.get(name);
      if (!next) return undefined;
      at = next;
    }
    return at;
  }

  get(path: string, call: string): Entry {
    const entry = this.find(path, call);
    if (!entry) throw fault("ENOENT", call, path);
    return entry;
  }

  file(path: string, call: string): MemoryFile {
    const entry = this.get(path, call);
    if (entry.kind === "folder") throw fault("EISDIR", call, path);
    return entry;
  }

  folder(path: string, call: string): MemoryFolder {
    const entry = this.get(path, call);
    if (entry.kind === "file") throw fault("ENOTDIR", call, path);
    return entry;
  }

  /** The file of this path, made where there is none. */
  madeFile(path: string, call: string): MemoryFile {
    const there = this.find(path, call);
    if (there?.kind === "folder") throw fault("EISDIR", call, path);
    if (there) return there;
    const file = new MemoryFile();
    this.put(path, file, call);
    return file;
  }

  put(path: string, entry: Entry, call: string): void {
    const name = parted(path).at(-1);
    if (name === undefined) throw fault("EISDIR", call, path);
    const parent = this.find(dirname(resolve(path)), call);
    if (!parent) throw fault("ENOENT", call, path);
    if (parent.kind === "file") throw fault("ENOTDIR", call, path);
    parent.entries.set(name, entry);
    this.changed(resolve(path));
  }

  /** Makes a folder; with `recursive` also those above it, and one that is there will do. */
  makeFolder(path: string, recursive: boolean): void {
    const there = this.find(path, "mkdir");
    if (there && !(recursive && there.kind === "folder")) throw fault("EEXIST", "mkdir", path);
    if (there) return;
    if (recursive) this.makeFolder(dirname(resolve(path)), true);
    this.put(path, new MemoryFolder(), "mkdir");
  }

  remove(path: string, { recursive = false, force = false } = {}): void {
    const entry = this.find(path, "rm");
    if (!entry) {
      if (force) return;
      throw fault("ENOENT", "rm", path);
    }
    if (entry.kind === "folder" && !recursive) {
      throw Object.assign(fault("EISDIR", "rm", path), { code: "ERR_FS_EISDIR" });
    }
    if (entry === this.#root) entry.entries.clear();
    else this.folder(dirname(resolve(path)), "rm").entries.delete(parted(path).at(-1)!);
    this.changed(resolve(path));
  }

  /** Moves an entry; a file, or an empty folder, that is in its place goes. */
  move(from: string, to: string): void {
    const entry = this.find(from, "rename");
    if (!entry) throw fault("ENOENT", "rename", from, to);
    if (resolve(from) === resolve(to)) return;
    const there = this.find(to, "rename");
    if (`${resolve(to)}/`.startsWith(`${resolve(from)}/`))
      throw fault("EINVAL", "rename", from, to);
    if (there && there.kind !== entry.kind) {
      throw fault(there.kind === "folder" ? "EISDIR" : "ENOTDIR", "rename", from, to);
    }
    if (there?.kind === "folder" && there.entries.size > 0)
      throw fault("ENOTEMPTY", "rename", from, to);
    this.put(to, entry, "rename");
    this.folder(dirname(resolve(from)), "rename").entries.delete(parted(from).at(-1)!);
    this.changed(resolve(from));
  }

  names(path: string, recursive = false): string[] {
    const found: string[] = [];
    const add = (folder: MemoryFolder, before: string) => {
      for (const name of [...folder.entries.keys()].sort()) {
        found.push(before + name);
        const entry = folder.entries.get(name)!;
        if (recursive && entry.kind === "folder") add(entry, `${before}${name}/`);
      }
    };
    add(this.folder(path, "scandir"), "");
    return found;
  }

  entries(path: string): FolderEntry[] {
    const { entries } = this.folder(path, "scandir");
    return this.names(path).map((name) => ({
      name,
      ...statOf(entries.get(name)!),
      isSymbolicLink: () => false,
    }));
  }
}
