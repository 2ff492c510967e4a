// The compiler's view of a tab's files.
import { existsSync, readdirSync, readFileSync } from "#platform/files";
import { statIfThereSync } from "#platform/files";
import { dirname, join, resolve } from "#platform/path";
import type * as node from "../node/system.js";

const statOf = (path: string) => {
  try {
    return statIfThereSync(path);
  } catch {
    return undefined; // a step of the path is a file
  }
};
const namesIn = (path: string) => (statOf(path)?.isDirectory() === true ? readdirSync(path) : []);

export const systemOf: typeof node.systemOf = () => ({
  fileExists: (path) => statOf(path)?.isFile() === true,
  readFile: (path) => (statOf(path)?.isFile() === true ? readFileSync(path, "utf8") : undefined),
  directoryExists: (path) => statOf(path)?.isDirectory() === true,
  getDirectories: (path) =>
    namesIn(path).filter((name) => statOf(join(path, name))?.isDirectory() === true),
  /** What completes the names of files beside a notebook: those in the folder itself. */
  readDirectory: (path, extensions = [""]) =>
    namesIn(path)
      .map((name) => join(path, name))
      .filter((file) => extensions.some((end) => file.endsWith(end)) && statOf(file)?.isFile()),
  realpath: resolve,
});

export const libraryYear: typeof node.libraryYear = () => "es2024";

export const manifestFrom: typeof node.manifestFrom = (folder, name) => {
  for (let at = folder; ; at = dirname(at)) {
    const manifest = join(at, "node_modules", name, "package.json");
    if (existsSync(manifest)) return manifest;
    if (dirname(at) === at) return undefined;
  }
};
