import { readFileSync } from "node:fs";
import { join } from "node:path";
import { existsSync, mkdirSync, writeFileSync } from "#platform/files";
import { sha256 } from "#platform/sha256";

/** Where a clone has the lessons that it ships. */
export const shippedLessons = "notebooks";

/** Where the lab of a clone has those that a person runs and edits. Git and the package leave it out. */
export const lessonCopies = "lessons";

/**
 * Copies a clone's lessons, by their names, to where a person edits them. Of a copy that nobody changed the
 * next version takes its place; one that was changed stays.
 */
export function copyLessons(clone: string, names: readonly string[]): void {
  const to = join(clone, lessonCopies);
  mkdirSync(to, { recursive: true });
  const record = join(to, ".shipped.json");
  const known = hashesIn(record);
  for (const name of names) {
    const shipped = readFileSync(join(clone, shippedLessons, name));
    const copy = join(to, name);
    if (existsSync(copy) && sha256(readFileSync(copy)) !== known[name]) continue;
    writeFileSync(copy, shipped);
    known[name] = sha256(shipped);
  }
  writeFileSync(record, JSON.stringify(known));
}

/** The hashes of what was copied; of copies that it does not know, each counts as changed. */
function hashesIn(record: string): Record<string, string> {
  try {
    return { ...(JSON.parse(readFileSync(record, "utf8")) as Record<string, string>) };
  } catch {
    return {};
  }
}
