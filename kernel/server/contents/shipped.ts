import { existsSync, readFileSync } from "#platform/files";
import { packagePath } from "#platform/modules";

/** The SHA-256 of each notebook that came with the package, as the build wrote them down. */
export function shippedNotebooks(): ReadonlySet<string> {
  const list = packagePath("dist/lessons.json");
  return new Set(existsSync(list) ? (JSON.parse(readFileSync(list, "utf8")) as string[]) : []);
}
