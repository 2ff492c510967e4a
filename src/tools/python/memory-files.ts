/** Whether two spans of the same length hold the same. */
export type SameBytes = (one: Uint8Array, other: Uint8Array) => boolean;

/** What is used of Emscripten's file system in memory. */
export interface EmscriptenFS {
  root: MemoryNode;
  streams: (OpenStream | null)[];
  nameTable: unknown[];
}

interface MemoryNode {
  mode: number;
  contents: Record<string, MemoryNode> | Uint8Array | null;
  usedBytes?: number;
}

interface OpenStream {
  /** What descriptors have in common that are copies of each other: place and flags. */
  shared: object;
}

const isDirectory = (node: MemoryNode) => (node.mode & 0o170000) === 0o040000;
const isFile = (node: MemoryNode) => (node.mode & 0o170000) === 0o100000;

type Owner = Record<string, unknown>;

/** Remembers an object's own fields; what is given back puts them back and removes what is new. */
function snapshotFields(
  object: object,
  keeps: (name: string, value: unknown) => boolean = () => true,
): () => void {
  const owner = object as Owner;
  const saved = Object.entries(owner).filter(([name, value]) => keeps(name, value));
  const names = new Set(saved.map(([name]) => name));
  return () => {
    for (const [name, value] of saved) if (owner[name] !== value) owner[name] = value;
    for (const name of Object.keys(owner)) {
      if (!names.has(name) && keeps(name, owner[name])) Reflect.deleteProperty(owner, name);
    }
  };
}

const isPlain = (_: string, value: unknown): boolean =>
  value === null || (typeof value !== "object" && typeof value !== "function");

/**
 * Remembers every directory, file and descriptor in memory, with times, places and the numbers that are given out
 * next; `restore` puts all of them back, drops what is new and closes what was left open.
 */
export function snapshotFiles(fs: EmscriptenFS, sameBytes: SameBytes): { restore(): void } {
  const restores: (() => void)[] = [snapshotFields(fs, isPlain)];
  const walk = (node: MemoryNode): void => {
    const { contents } = node;
    restores.push(snapshotFields(node, (name) => name !== "contents" && name !== "usedBytes"));
    if (isDirectory(node) && contents !== null && !(contents instanceof Uint8Array)) {
      const children = Object.entries(contents);
      restores.push(() => restoreDirectory(node, children));
      for (const [, child] of children) walk(child);
    } else if (isFile(node) && contents instanceof Uint8Array) {
      const bytes = contents.slice(0, node.usedBytes ?? contents.length);
      restores.push(() => restoreFile(node, bytes, sameBytes));
    }
  };
  walk(fs.root);
  // The look-up table holds nodes by parent and name, in chains that the nodes' own fields make.
  const table = [...fs.nameTable];
  const streams = [...fs.streams];
  for (const stream of streams) {
    if (stream) restores.push(snapshotFields(stream), snapshotFields(stream.shared));
  }
  const putBack = (list: unknown[], saved: readonly unknown[]): void => {
    list.length = saved.length;
    for (const [i, value] of saved.entries()) list[i] = value;
  };
  return {
    restore() {
      for (const restore of restores) restore();
      putBack(fs.nameTable, table);
      putBack(fs.streams, streams);
    },
  };
}

function restoreDirectory(node: MemoryNode, children: [string, MemoryNode][]): void {
  const now = Object.entries(node.contents as Record<string, MemoryNode>);
  const same =
    now.length === children.length && now.every(([, child], i) => child === children[i]![1]);
  if (!same) node.contents = Object.fromEntries(children);
}

function restoreFile(node: MemoryNode, bytes: Uint8Array, sameBytes: SameBytes): void {
  const now = node.contents;
  const same =
    now instanceof Uint8Array &&
    node.usedBytes === bytes.length &&
    sameBytes(now.subarray(0, bytes.length), bytes);
  if (same) return;
  node.contents = bytes.slice();
  node.usedBytes = bytes.length;
}
