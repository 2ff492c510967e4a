import { readFileSync } from "#platform/files";
import { packagePath } from "#platform/modules";

const versionIn = (manifest: string): string =>
  (JSON.parse(readFileSync(packagePath(manifest), "utf8")) as { version: string }).version;

/** Which version of this package that is. */
export const labVersion = (): string => versionIn("package.json");

/** Which TypeScript cells are checked by. */
export const typescriptVersion = (): string => versionIn("dist/vendor/typescript/package.json");
