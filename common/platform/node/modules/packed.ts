import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { gzipSync } from "node:zlib";

/** A package's script, packed by gzip, as base64. */
export function packedPackage(name: string): string {
  const path = createRequire(import.meta.url).resolve(name);
  return gzipSync(readFileSync(path), { level: 9 }).toString("base64");
}
