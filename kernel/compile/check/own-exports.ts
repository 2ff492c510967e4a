import { readFileSync } from "#platform/files";
import { join } from "#platform/path";
import { isFile, packageFolder } from "./specifiers.js";

/** TypeScript's numbers for a name that a module does not export, without and with a proposal. */
const notExported: ReadonlySet<number> = new Set([2305, 2724]);

interface Manifest {
  name: string;
  exports: Record<string, { types?: string } | string>;
}

/** The entry points of the kernel's own package that export a name. */
function exporting(name: string): string[] {
  const manifest = JSON.parse(
    readFileSync(join(packageFolder, "package.json"), "utf8"),
  ) as Manifest;
  const isNamed = new RegExp(`^export [^;]*[{,\\s]${name.replaceAll("$", "\\$")}(?=[\\s,}])`, "m");
  return Object.entries(manifest.exports).flatMap(([path, target]) => {
    const types = typeof target === "string" ? undefined : target.types;
    if (types === undefined || types.includes("*") || path.startsWith("./internal/")) return [];
    const file = join(packageFolder, types);
    return isFile(file) && isNamed.test(readFileSync(file, "utf8"))
      ? [manifest.name + path.slice(1)]
      : [];
  });
}

/** Where a name is that is asked of another entry point of the kernel's own package: words for the end of TypeScript's message. */
export function exportedElsewhere(code: number, message: string): string {
  if (!notExported.has(code)) return "";
  const found =
    /^(?:Module )?'"(arpo-lab(?:\/[\w/-]+)?)"' has no exported member (?:named )?'([\w$]+)'/.exec(
      message,
    );
  if (found === null) return "";
  const [, asked, name = ""] = found;
  const [entry] = exporting(name).filter((one) => one !== asked);
  return entry === undefined ? "" : ` Import it from "${entry}".`;
}
