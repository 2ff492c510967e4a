// Notebooks that came with the site: a reader's own copy of one is kept, whatever becomes of it.
import {
  existsSync,
  mkdirSync,
  readFileSync,
  writeFileSync,
} from "../../platform/browser/files.js";
import { dirname } from "../../platform/browser/path.js";
import { tree } from "../../platform/browser/tree/own-tree.js";
import { home } from "../files/share-data.js";

const record = `${home}/.lab/lessons.json`;

type Versions = Record<string, string>;

/** Puts the site's notebooks into the reader's folder, as they are fetched when one is opened. */
export function layOut(shipped: Versions): void {
  for (const name of Object.keys(shipped)) {
    tree.makeFolder(dirname(`${home}/${name}`), true);
    tree.put(`${home}/${name}`, tree.get(`/lab/${name}`, "open"), "open");
  }
}

const beside = (name: string): string => name.replace(/(\.\w+)?$/, " (new)$1");

/**
 * After a reader's files are back: of each lesson that the reader changed and that has changed since, the
 * new one is laid beside it. Gives their names; what was known before is remembered for the next time.
 */
export function newerLessons(shipped: Versions, restored: readonly string[]): string[] {
  const changed = new Set(restored.map((path) => path.slice(home.length + 1)));
  const known: Versions = existsSync(record)
    ? (JSON.parse(readFileSync(record, "utf8")) as Versions)
    : {};
  const newer = Object.keys(shipped).filter(
    (name) => changed.has(name) && known[name] !== undefined && known[name] !== shipped[name],
  );
  for (const name of newer) {
    tree.put(`${home}/${beside(name)}`, tree.get(`/lab/${name}`, "open"), "open");
  }
  // Of a lesson that nobody changed the next version simply takes its place.
  const now = Object.fromEntries(
    Object.keys(shipped).map((name) => [
      name,
      changed.has(name) ? (known[name] ?? shipped[name]!) : shipped[name]!,
    ]),
  );
  mkdirSync(dirname(record), { recursive: true });
  writeFileSync(record, JSON.stringify(now));
  return newer;
}
