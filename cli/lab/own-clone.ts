import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { packagePath } from "../../platform/node/package-path.js";

const lessons = "notebooks";

/** What the lab of a clone of this repository opens with, and which files it does not list. */
export interface OwnClone {
  first: string;
  unlisted: string[];
}

/**
 * What is not listed of these files of a repository, by their paths: all but the notebooks, and their index. Folders
 * stand for what is in them.
 */
export function unlistedOf(tracked: readonly string[]): string[] {
  const names = tracked.flatMap((path) => {
    const [top = "", below, deeper] = path.split("/");
    if (top !== lessons) return [top];
    return deeper === undefined ? [] : [`${top}/${below}`];
  });
  return [...new Set([...names, "node_modules", "dist"])];
}

/** Undefined where the folder is no clone of this repository, or Git cannot say what is in it. */
export function ownClone(folder: string): OwnClone | undefined {
  if (resolve(folder) !== resolve(packagePath(".")) || !existsSync(join(folder, ".git"))) {
    return undefined;
  }
  const { status, stdout } = spawnSync("git", ["ls-files", "-z"], {
    cwd: folder,
    encoding: "utf8",
    maxBuffer: 64 << 20,
  });
  if (status !== 0) return undefined;
  return { first: `${lessons}/00-tour.ipynb`, unlisted: unlistedOf(stdout.split("\0")) };
}
