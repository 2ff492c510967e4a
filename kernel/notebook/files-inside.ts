import {
  closeSync,
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
} from "node:fs";
import { join, relative, sep } from "node:path";
import { readNoFollow } from "#platform/files";
import { type HeldFolder, holdFolder } from "#platform/held-folder";

/** Larger ones are no pictures. */
const largest = 64 << 20;

/**
 * A regular file below a folder, wherever links lead; undefined where it is not below it, is no regular
 * file or is larger than `most` bytes. A pipe or a device blocks nobody.
 */
export function readInside(folder: string, path: string, most = largest): Buffer | undefined {
  try {
    const root = realpathSync(folder);
    const names = relative(root, realpathSync(join(folder, path))).split(sep);
    const name = names.pop();
    if (name === undefined || name === "" || [name, ...names].includes("..")) return undefined;
    return inFolder(root, names, (held) => readRegular(`${held.path}/${name}`, most));
  } catch {
    return undefined; // not there, or not to be read
  }
}

function inFolder<T>(root: string, names: readonly string[], act: (held: HeldFolder) => T): T {
  let held = holdFolder(root);
  try {
    for (const name of names) {
      const inner = held.folder(name);
      held.close();
      held = inner;
    }
    const done = act(held);
    held.check();
    return done;
  } finally {
    held.close();
  }
}

function readRegular(at: string, most: number): Buffer | undefined {
  const file = openSync(at, readNoFollow);
  try {
    const status = fstatSync(file);
    return status.isFile() && status.size <= most ? readFileSync(file) : undefined;
  } finally {
    closeSync(file);
  }
}

const deviceOf = (held: HeldFolder): number => statSync(`${held.path}/.`).dev;

/** How many files a folder may have that is taken whole. */
const mostFiles = 20_000;

/**
 * The regular files below a folder that are not hidden, by their names in it. Links, pipes and devices are
 * left out and told; other file systems (`/proc`, a mount) are not entered.
 */
export function plainFiles(folder: string, leftOut: (name: string) => void): string[] {
  const found: string[] = [];
  const walk = (held: HeldFolder, above: string): void => {
    for (const entry of readdirSync(held.path, { withFileTypes: true })) {
      if (entry.name.startsWith(".") || entry.name === "node_modules") continue;
      const name = above + entry.name;
      if (entry.isDirectory()) enter(held, entry.name, `${name}/`);
      else if (!entry.isFile()) leftOut(name);
      else if (found.push(name) > mostFiles) {
        throw new RangeError(`Cannot take ${folder}: it must have at most ${mostFiles} files`);
      }
    }
  };
  const root = holdFolder(realpathSync(folder));
  const device = deviceOf(root);
  const enter = (held: HeldFolder, name: string, below: string): void => {
    const inner = held.folder(name);
    try {
      if (deviceOf(inner) === device) walk(inner, below);
      else leftOut(below);
    } finally {
      inner.close();
    }
  };
  try {
    walk(root, "");
  } finally {
    root.close();
  }
  return found.sort();
}
