/** Whether two spans of the same length hold the same. */
export type SameBytes = (one: Uint8Array, other: Uint8Array) => boolean;

/** What is used of Emscripten's file system in memory. */
export interface EmscriptenFS {
  root: MemoryNode;
  streams: (unknown | null)[];
  currentPath?: string;
  nameTable: unknown[];
  hashAddNode(node: MemoryNode): void;
}

interface MemoryNode {
  name: string;
  mode: number;
  parent: MemoryNode;
  contents: Record<string, MemoryNode> | Uint8Array | null;
  usedBytes?: number;
}

interface Saved {
  node: MemoryNode;
  name: string;
  parent: MemoryNode;
  mode: number;
  children?: [string, MemoryNode][];
  bytes?: Uint8Array;
}

const isDirectory = (node: MemoryNode) => (node.mode & 0o170000) === 0o040000;
const isFile = (node: MemoryNode) => (node.mode & 0o170000) === 0o100000;

/**
 * Remembers every directory and file in memory; `restore` puts all of them back, drops what is new
 * and closes what was left open.
 */
export function snapshotFiles(fs: EmscriptenFS, sameBytes: SameBytes): { restore(): void } {
  const saved: Saved[] = [];
  const walk = (node: MemoryNode): void => {
    const { name, parent, mode, contents } = node;
    if (isDirectory(node) && contents !== null && !(contents instanceof Uint8Array)) {
      const children = Object.entries(contents);
      saved.push({ node, name, parent, mode, children });
      for (const [, child] of children) walk(child);
    } else if (isFile(node) && contents instanceof Uint8Array) {
      const bytes = contents.slice(0, node.usedBytes ?? contents.length);
      saved.push({ node, name, parent, mode, bytes });
    } else saved.push({ node, name, parent, mode });
  };
  walk(fs.root);
  const streams = [...fs.streams];
  const path = fs.currentPath;
  return {
    restore() {
      let moved = false;
      for (const { node, name, parent, mode, children, bytes } of saved) {
        moved ||= node.name !== name || node.parent !== parent;
        node.name = name;
        node.parent = parent;
        node.mode = mode;
        if (children) moved = restoreDirectory(node, children) || moved;
        else if (bytes) restoreFile(node, bytes, sameBytes);
      }
      if (moved) {
        // The look-up table holds nodes by parent and name: build it anew from what is there.
        fs.nameTable.fill(undefined);
        for (const { node } of saved) if (node.parent !== node) fs.hashAddNode(node);
      }
      fs.streams.length = streams.length;
      for (const [i, stream] of streams.entries()) fs.streams[i] = stream;
      fs.currentPath = path;
    },
  };
}

/** Whether anything had been added or removed. */
function restoreDirectory(node: MemoryNode, children: [string, MemoryNode][]): boolean {
  const now = Object.entries(node.contents as Record<string, MemoryNode>);
  const same =
    now.length === children.length && now.every(([, child], i) => child === children[i]![1]);
  if (!same) node.contents = Object.fromEntries(children);
  return !same;
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
