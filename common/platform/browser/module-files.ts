import type * as node from "../node/module-files.js";
import { pathOf } from "./addresses.js";
import { existsSync, readFile, readFileSync } from "./files.js";
import { packagePath } from "./modules.js";

/** A file of the tab's own is imported by its text, so it can import only whole addresses. */
export const importAddress: typeof node.importAddress = async (address) => {
  if (!address.startsWith("file:")) return (await import(address)) as Record<string, unknown>;
  const path = pathOf(address);
  if (!/\.m?js$/.test(path)) {
    throw new RangeError(
      `Cannot import ${path}: in a browser tab a module must be JavaScript (.js, .mjs), got ${path}`,
    );
  }
  const script = new Blob([await readFile(path)], { type: "text/javascript" });
  const blob = URL.createObjectURL(script);
  try {
    return (await import(blob)) as Record<string, unknown>;
  } finally {
    URL.revokeObjectURL(blob);
  }
};

/** Packed when the tab's files were made; without it a page shows the picture and no more. */
export const packedPackage: typeof node.packedPackage = (name) => {
  const path = packagePath(`packed/${name}`);
  return existsSync(path) ? readFileSync(path, "utf8") : "";
};
