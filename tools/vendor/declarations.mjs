// Copies a package's declarations, from one file on to all that it names, so that what is bundled into
// dist/vendor has types without its package (tfjs: 1 MB of 40).
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";

/** Specifiers as a module has them: with the extension. */
const specifier = /((?:\bfrom|\bimport|\bmodule) ?\(?\s*)(["'])([^"'\n]+)\2/g;

/**
 * Copies `entries` (declaration files in `from`) and what they import into `to`. `packages` says where a bare
 * name lies in `from`; `edit` may change a file's text.
 */
export function copyDeclarations({ from, to, entries, packages = {}, edit = (text) => text }) {
  rmSync(to, { recursive: true, force: true });
  const queue = entries.map((entry) => join(from, entry));
  const done = new Set();
  for (let path; (path = queue.pop()) !== undefined;) {
    if (done.has(path)) continue;
    done.add(path);
    const folder = dirname(path);
    const text = edit(readFileSync(path, "utf8")).replace(
      specifier,
      (whole, before, quote, name) => {
        const bare = Object.keys(packages).find((p) => name === p || name.startsWith(`${p}/`));
        const base = bare
          ? join(from, packages[bare] + name.slice(bare.length))
          : name.startsWith(".") && resolve(folder, name.replace(/\.js$/, ""));
        const file =
          base &&
          [`${base}.d.ts`, join(base, "index.d.ts"), join(base, "dist/index.d.ts")].find((f) =>
            existsSync(f),
          );
        if (!file) return whole;
        queue.push(file);
        const target = relative(folder, file)
          .replaceAll("\\", "/")
          .replace(/\.d\.ts$/, ".js");
        return `${before}${quote}${target.startsWith(".") ? target : `./${target}`}${quote}`;
      },
    );
    const copy = join(to, relative(from, path));
    mkdirSync(dirname(copy), { recursive: true });
    writeFileSync(copy, text);
  }
}
