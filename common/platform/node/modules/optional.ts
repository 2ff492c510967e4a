// What may be installed beside the package: native addons, TensorFlow, Dawn.
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);

/** The newest interface for addons that this Node has. */
export const addonInterface = Number(process.versions.napi);

/** Where a file of a package is; undefined where it is not installed. */
export function resolvePackage(name: string): string | undefined {
  try {
    return require.resolve(name);
  } catch {
    return undefined;
  }
}

/** Loads a package, or an addon by its path. */
export function requirePackage(name: string): unknown {
  return require(name);
}
