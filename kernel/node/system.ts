import { createRequire } from "node:module";
import { join } from "node:path";
import type { System } from "typescript";

/** What the compiler asks of the files around a notebook: TypeScript has its own ways. */
type CompilerSystem = Pick<
  System,
  "fileExists" | "readFile" | "directoryExists" | "getDirectories" | "readDirectory" | "realpath"
>;

/** TypeScript's own, where it has one. */
export function systemOf(own: CompilerSystem): CompilerSystem {
  return own;
}

/** The year of JavaScript's library that cells run with. */
export function libraryYear(): string {
  return Number(process.versions.node.split(".")[0]) >= 22 ? "es2024" : "es2023";
}

/** Where a package's package.json is for files of a folder; undefined where it is not installed. */
export function manifestFrom(folder: string, name: string): string | undefined {
  try {
    return createRequire(join(folder, "cell.js")).resolve(`${name}/package.json`);
  } catch {
    return undefined; // not installed there
  }
}
