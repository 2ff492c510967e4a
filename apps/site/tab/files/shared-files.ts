// One set of files for all threads of a tab: whoever changes one tells the others.
import { MemoryFile } from "../../../../common/platform/browser/tree/memory-file.js";
import { tree } from "../../../../common/platform/browser/tree/own-tree.js";
import { dirname } from "../../../../common/platform/browser/path.js";

/** What a path has become. */
export interface FileChange {
  path: string;
  kind: "file" | "folder" | "gone";
  bytes?: Uint8Array<ArrayBuffer>;
}

/** How long changes are gathered, in milliseconds: a log grows by lines. */
const patience = 20;

/** What is at a path now, and below it; of what nobody has looked into, nothing. */
function* stateOf(path: string): Generator<FileChange> {
  const entry = tree.find(path, "stat");
  if (entry?.kind === "file" && entry.isRemote) return;
  if (entry === undefined) yield { path, kind: "gone" };
  else if (entry.kind === "file") yield { path, kind: "file", bytes: entry.all() };
  else {
    yield { path, kind: "folder" };
    for (const name of tree.names(path)) yield* stateOf(`${path}/${name}`);
  }
}

/** Makes a change here. */
export function apply({ path, kind, bytes }: FileChange): void {
  if (kind === "gone") tree.remove(path, { recursive: true, force: true });
  else if (kind === "folder") tree.makeFolder(path, true);
  else {
    tree.makeFolder(dirname(path), true);
    tree.put(path, new MemoryFile(bytes), "open");
  }
}

/** Passes changes of this thread's files on, and takes those of others. */
export class SharedFiles {
  readonly #others = new Set<MessagePort>();
  readonly #keep: ((change: FileChange) => void) | undefined;
  #changed = new Set<string>();
  #applying = false;

  /** `keep` hears of every change, wherever it was made. */
  constructor(keep?: (change: FileChange) => void) {
    this.#keep = keep;
    tree.changed = (path) => {
      if (this.#applying) return;
      if (this.#changed.size === 0) setTimeout(() => this.flush(), patience);
      this.#changed.add(path);
    };
  }

  add(port: MessagePort): void {
    this.#others.add(port);
    port.onmessage = ({ data }: MessageEvent<FileChange[]>) => {
      this.#applying = true;
      try {
        for (const change of data) apply(change);
      } finally {
        this.#applying = false;
      }
      this.#tell(data, port);
    };
  }

  /** Tells a thread that was started later what there is below a folder. */
  tellAll(port: MessagePort, folder: string, without: readonly string[]): void {
    const names = tree.names(folder).filter((name) => !without.includes(name));
    port.postMessage(names.flatMap((name) => [...stateOf(`${folder}/${name}`)]));
  }

  remove(port: MessagePort): void {
    this.#others.delete(port);
    port.close();
  }

  /** Says at once what has changed. */
  flush(): void {
    const paths = [...this.#changed];
    this.#changed = new Set();
    if (paths.length > 0) this.#tell(paths.flatMap((path) => [...stateOf(path)]));
  }

  #tell(changes: FileChange[], from?: MessagePort): void {
    for (const port of this.#others) if (port !== from) port.postMessage(changes);
    if (this.#keep !== undefined) for (const change of changes) this.#keep(change);
  }
}
