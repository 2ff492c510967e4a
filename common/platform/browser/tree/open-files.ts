import type { FileHandle } from "../../node/files.js";
import { fault } from "./fault.js";
import { type FileTree, statOf } from "./file-tree.js";
import { MemoryFile, type MemoryFolder } from "./memory-file.js";

interface Open {
  path: string;
  entry: MemoryFile | MemoryFolder;
  reads: boolean;
  writes: boolean;
  append: boolean;
  /** Where the next write without a place goes. */
  at: number;
}

const bytesOf = (data: string | Uint8Array) =>
  typeof data === "string" ? new TextEncoder().encode(data) : data;

/** Which files are open, by number. */
export class OpenFiles {
  readonly #open = new Map<number, Open>();
  #next = 3;

  constructor(readonly tree: FileTree) {}

  /** Flags are Node's words for them: `r`, `r+`, `w`, `a`, each with `+` or `x`. */
  open(path: string, flags: string): number {
    const there = this.tree.find(path, "open");
    if (there && flags.includes("x")) throw fault("EEXIST", "open", path);
    if (!there && flags.startsWith("r")) throw fault("ENOENT", "open", path);
    if (there?.kind === "folder" && flags !== "r") throw fault("EISDIR", "open", path);
    const entry = there ?? this.tree.madeFile(path, "open");
    if (entry.kind === "file" && flags.startsWith("w")) entry.truncate(0);
    const fd = this.#next++;
    const both = flags.includes("+");
    this.#open.set(fd, {
      path,
      entry,
      reads: both || flags.startsWith("r"),
      writes: both || !flags.startsWith("r"),
      append: flags.startsWith("a"),
      at: 0,
    });
    return fd;
  }

  close(fd: number): void {
    if (!this.#open.delete(fd)) throw fault("EBADF", "close");
  }

  stat(fd: number): ReturnType<typeof statOf> {
    return statOf(this.#get(fd, "fstat").entry);
  }

  read(fd: number, into: Uint8Array, offset: number, length: number, position: number | null) {
    const open = this.#get(fd, "read");
    if (!open.reads) throw fault("EBADF", "read");
    const count = file(open, "read").read(into, offset, length, position ?? open.at);
    if (position === null) open.at += count;
    return count;
  }

  write(fd: number, data: string | Uint8Array, position: number | null = null): number {
    const open = this.#get(fd, "write");
    if (!open.writes) throw fault("EBADF", "write");
    const target = file(open, "write");
    const bytes = bytesOf(data);
    target.write(bytes, open.append ? target.size : (position ?? open.at));
    if (position === null) open.at += bytes.length;
    this.tree.changed(open.path);
    return bytes.length;
  }

  truncate(fd: number, length: number): void {
    const open = this.#get(fd, "ftruncate");
    if (!open.writes) throw fault("EINVAL", "ftruncate");
    file(open, "ftruncate").truncate(length);
    this.tree.changed(open.path);
  }

  /** An open file as Node's promises have it. */
  handle(fd: number): FileHandle {
    const written = (data: string | Uint8Array) => settled(() => void this.write(fd, data));
    return {
      fd,
      stat: () => settled(() => this.stat(fd)),
      read: (into, offset, length, position) =>
        settled(() => ({ bytesRead: this.read(fd, into, offset, length, position) })),
      write: (from, offset = 0, length = from.length - offset, position) =>
        settled(() => {
          const part = from.subarray(offset, offset + length);
          return { bytesWritten: this.write(fd, part, position ?? null) };
        }),
      writeFile: written,
      appendFile: written,
      sync: () => settled(() => undefined),
      datasync: () => settled(() => undefined),
      truncate: (length) => settled(() => this.truncate(fd, length)),
      close: () => settled(() => this.close(fd)),
    };
  }

  #get(fd: number, call: string): Open {
    const open = this.#open.get(fd);
    if (!open) throw fault("EBADF", call);
    return open;
  }
}

function file({ entry, path }: Open, call: string): MemoryFile {
  if (entry.kind === "folder") throw fault("EISDIR", call, path);
  return entry;
}

/** What a call gives, as a promise that it breaks where the call throws. */
export function settled<T>(call: () => T): Promise<T> {
  return new Promise((resolve) => {
    resolve(call());
  });
}
