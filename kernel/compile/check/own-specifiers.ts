import { readdirSync, readFileSync } from "#platform/files";
import { join } from "#platform/path";
import { isFile, packageFolder } from "./package-folder.js";

let known: string[] | undefined;

/** The entry points of the kernel's own package that a cell is offered: all but the internal ones. */
export function ownSpecifiers(): readonly string[] {
  known ??= read();
  return known;
}

function read(): string[] {
  const manifest = JSON.parse(readFileSync(join(packageFolder, "package.json"), "utf8")) as {
    name: string;
    exports: Record<string, { types: string } | string>;
  };
  const paths = Object.entries(manifest.exports).flatMap(([path, target]) => {
    if (typeof target === "string") return []; // package.json
    if (path.startsWith("./internal/")) return [];
    if (!path.includes("*")) return [path];
    const [before, after] = join(packageFolder, target.types).split("*") as [string, string];
    return readdirSync(before)
      .filter((name) => isFile(before + name + after))
      .map((name) => path.replace("*", name));
  });
  return paths.map((path) => manifest.name + path.slice(1)).sort();
}

/** The module name being written up to `position`: where it starts and what is there of it. */
export function specifierAt(
  text: string,
  position: number,
): { start: number; typed: string } | undefined {
  const before = /(?:\bfrom|\bimport\s*\(?|\brequire\s*\()\s*(["'])((?:(?!\1)[^\n])*)$/.exec(
    text.slice(0, position),
  );
  const typed = before?.[2];
  return typed === undefined ? undefined : { start: position - typed.length, typed };
}
