// The kernel's own package, which a notebook can import wherever it lies.
import { createRequire } from "node:module";
import { join } from "node:path";

/** What a module exports, by name. */
export type Namespace = Record<string, unknown>;

const require = createRequire(import.meta.url);

/** This copy of them, because it is the one that is connected to the kernel. */
const connected: Record<string, () => Promise<Namespace>> = {
  "arpo-lab/kernel": () => import(import.meta.resolve("arpo-lab/kernel")) as Promise<Namespace>,
  tslab: () => import("../display/tslab.js"),
};

/** The module behind an import from `folder` that the kernel answers itself; undefined for any other. */
export function ownModule(specifier: string, folder: string): Promise<Namespace> | undefined {
  const load = connected[specifier];
  if (load !== undefined) return load();
  if (!isOwn(specifier, folder)) return undefined;
  return import(import.meta.resolve(specifier)) as Promise<Namespace>;
}

/** The same for `require`. */
export function requireOwn(specifier: string, folder: string): { exports: unknown } | undefined {
  const own = specifier === "arpo-lab/kernel" || isOwn(specifier, folder);
  return own ? { exports: require(specifier) } : undefined;
}

/** True where the folder has no installation of its own, which would come first. */
function isOwn(specifier: string, folder: string): boolean {
  if (!/^arpo-lab(\/|$)/.test(specifier)) return false;
  try {
    createRequire(join(folder, "cell.cjs")).resolve("arpo-lab/package.json");
    return false;
  } catch {
    return true;
  }
}
