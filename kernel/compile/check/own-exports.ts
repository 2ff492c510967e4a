import { readFileSync } from "#platform/files";
import { join } from "#platform/path";
import { isFile, packageFolder } from "./specifiers.js";

/** TypeScript's numbers for a name that a module does not export, without and with a proposal. */
const notExported: ReadonlySet<number> = new Set([2305, 2724]);

interface Manifest {
  name: string;
  exports: Record<string, { types?: string } | string>;
}

/** The entry points of the kernel's own package: the name that is imported, and the file of its types. */
function entryPoints(): [name: string, types: string][] {
  const text = readFileSync(join(packageFolder, "package.json"), "utf8");
  const { name, exports } = JSON.parse(text) as Manifest;
  return Object.entries(exports).flatMap(([path, target]) => {
    const types = typeof target === "string" ? undefined : target.types;
    if (types === undefined || types.includes("*") || path.startsWith("./internal/")) return [];
    return [[name + path.slice(1), types.replace(/^\.\//, "")]];
  });
}

function isExported(name: string, types: string): boolean {
  const file = join(packageFolder, types);
  const named = new RegExp(`^export [^;]*[{,\\s]${name.replaceAll("$", "\\$")}(?=[\\s,}])`, "m");
  return isFile(file) && named.test(readFileSync(file, "utf8"));
}

/**
 * What TypeScript says of a name that is asked of an entry point of the kernel's own package: the entry point
 * as it is imported, and at the end the one that has the name. Other messages stay as they are.
 */
export function withOwnEntry(code: number, message: string): string {
  if (!notExported.has(code)) return message;
  const found = /'"([^"]+)"' has no exported member (?:named )?'([\w$]+)'/.exec(message);
  const [, module = "", name = ""] = found ?? [];
  const entries = entryPoints();
  const asked = entries.find(
    ([entry, types]) => module === entry || `${module}.d.ts`.endsWith(types),
  );
  if (asked === undefined) return message;
  const other = entries.find(([entry, types]) => entry !== asked[0] && isExported(name, types));
  const hint = other === undefined ? "" : ` Import it from "${other[0]}".`;
  return `${message.replace(module, asked[0])}${hint}`;
}
