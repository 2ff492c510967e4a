// The origin's private file system: what a reader made is there again at the next visit.
import { apply, type FileChange } from "./shared-files.js";
import { home } from "./share-data.js";

type Folder = FileSystemDirectoryHandle;

async function* entriesOf(folder: Folder): AsyncGenerator<[string, FileSystemHandle]> {
  yield* (folder as unknown as { entries(): AsyncGenerator<[string, FileSystemHandle]> }).entries();
}

async function readInto(folder: Folder, path: string): Promise<string[]> {
  const read: string[] = [];
  for await (const [name, entry] of entriesOf(folder)) {
    const at = `${path}/${name}`;
    if (entry.kind === "directory") {
      apply({ path: at, kind: "folder" });
      read.push(...(await readInto(entry as Folder, at)));
    } else {
      const file = await (entry as FileSystemFileHandle).getFile();
      apply({ path: at, kind: "file", bytes: new Uint8Array(await file.arrayBuffer()) });
      read.push(at);
    }
  }
  return read;
}

/** A file's bytes, whole or not at all where the browser can; a handle of its own is enough where not. */
async function write(file: FileSystemFileHandle, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
  if ("createWritable" in file) {
    const stream = await file.createWritable();
    await stream.write(bytes);
    await stream.close();
    return;
  }
  const handle = await (
    file as unknown as {
      createSyncAccessHandle(): Promise<{
        truncate(size: number): void;
        write(bytes: Uint8Array): void;
        close(): void;
      }>;
    }
  ).createSyncAccessHandle();
  handle.truncate(0);
  handle.write(bytes);
  handle.close();
}

/** What of the reader's folder is kept, one folder for each site of an origin. */
export class PrivateFiles {
  readonly #root: Promise<Folder | undefined>;
  #turn: Promise<void> = Promise.resolve();
  /** Only one page of a site writes. */
  writes = false;

  constructor(site: string) {
    const name = encodeURIComponent(site);
    this.#root = (async () => {
      try {
        const all = await navigator.storage.getDirectory();
        return await all.getDirectoryHandle(name, { create: true });
      } catch {
        return undefined; // a private window: files live as long as the page
      }
    })();
  }

  /** Whether there is such a place. */
  async isThere(): Promise<boolean> {
    return (await this.#root) !== undefined;
  }

  /** Puts what was kept where the reader sees it; gives the paths of the files. */
  async restore(): Promise<string[]> {
    const root = await this.#root;
    return root === undefined ? [] : await readInto(root, home);
  }

  keep(change: FileChange): void {
    if (!this.writes || !change.path.startsWith(`${home}/`)) return;
    this.#turn = this.#turn.then(() => this.#keep(change)).catch(() => undefined); // the next change of the same file is tried again
  }

  /** Resolves when all that was to be kept is. */
  async kept(): Promise<void> {
    await this.#turn;
  }

  async #keep({ path, kind, bytes }: FileChange): Promise<void> {
    const root = await this.#root;
    if (root === undefined) return;
    const steps = path.slice(home.length + 1).split("/");
    const name = steps.pop()!;
    let folder = root;
    for (const step of steps) folder = await folder.getDirectoryHandle(step, { create: true });
    if (kind === "gone") await folder.removeEntry(name, { recursive: true }).catch(() => undefined);
    else if (kind === "folder") await folder.getDirectoryHandle(name, { create: true });
    else await write(await folder.getFileHandle(name, { create: true }), bytes!);
  }
}
