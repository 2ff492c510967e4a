import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import type { PackedFile } from "../ray/zip.js";

/** A file to upload, not read yet. */
interface UploadFile {
  name: string;
  path: string;
  bytes: number;
  executable: boolean;
}

const skipped = new Set(["node_modules", ".git", "__pycache__"]);

/** A module and the modules that it takes from beside it, as paths. */
function withImports(file: string): string[] {
  const found = new Set<string>();
  const visit = (path: string): void => {
    if (found.has(path)) return;
    found.add(path);
    if (!/\.[cm]?[jt]sx?$/.test(path)) return;
    const source = readFileSync(path, "utf8");
    for (const [, name] of source.matchAll(
      /(?:from|import)\s*(?:\(\s*)?["'](\.{1,2}\/[^"']+)["']/g,
    )) {
      const wanted = resolve(dirname(path), name!);
      const candidates = [wanted, wanted.replace(/\.([cm]?)js$/, ".$1ts"), `${wanted}.ts`];
      const there = candidates.find((one) => existsSync(one) && statSync(one).isFile());
      if (there !== undefined) visit(there);
    }
  };
  visit(file);
  return [...found];
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (skipped.has(entry.name)) return [];
    // A link counts as what it leads to.
    const info = statSync(path);
    return info.isDirectory() ? filesBelow(path) : info.isFile() ? [path] : [];
  });
}

/** The longest folder that holds all of them. */
function commonFolder(paths: readonly string[]): string {
  let common = dirname(paths[0]!);
  while (!paths.every((path) => path.startsWith(common + sep))) common = dirname(common);
  return common;
}

/**
 * Files that are uploaded with a job: each path that was given gets a place below `files/`, a folder with all
 * that is in it, a module with what it imports from beside it.
 */
export class LocalFiles {
  readonly #places = new Map<string, string>();
  readonly files: UploadFile[] = [];

  /** Where a path of this machine stands in the package. */
  place(path: string): string {
    const known = this.#places.get(path);
    if (known !== undefined) return known;
    const root = `files/${this.#places.size}`;
    const folder = statSync(path).isDirectory();
    const paths = folder ? filesBelow(path) : withImports(path);
    const from = folder ? dirname(path) : commonFolder(paths);
    const nameOf = (one: string) => `${root}/${relative(from, one).split(sep).join("/")}`;
    for (const one of paths) {
      const { mode, size } = statSync(one);
      const executable = (mode & 0o100) !== 0;
      this.files.push({ name: nameOf(one), path: one, bytes: size, executable });
    }
    const place = folder ? `${root}/${basename(path)}` : nameOf(path);
    this.#places.set(path, place);
    return place;
  }
  /** Reads them all. */
  read(): PackedFile[] {
    return this.files.map(({ name, path, executable }) => ({
      ...{ name, executable },
      data: readFileSync(path),
    }));
  }
}
