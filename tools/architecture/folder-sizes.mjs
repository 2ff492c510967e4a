// How many entries a folder of product code may have, tests not counted: more is no longer one idea. Not asked of a
// folder of definitions beside their registry, which grows by a file with each choice.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { root } from "./imports.mjs";
import { sourceRoots } from "./source-roots.mjs";

const most = 20;

/** Folders that may have more, and why. */
const larger = new Map([["src", "its entries are the modules"]]);

const counts = ({ name }) =>
  !/\.test\.\w+$/.test(name) && !["testing", "fixtures", "node_modules", "build"].includes(name);

function* foldersIn(folder) {
  const entries = readdirSync(join(root, folder), { withFileTypes: true }).filter(counts);
  const isKind = entries.some(({ name }) => name === "registry.ts");
  if (!isKind) yield [folder, entries.length];
  for (const entry of entries) if (entry.isDirectory()) yield* foldersIn(`${folder}/${entry.name}`);
}

/** Folders with more entries than they may have. */
export const crowdedFolders = (roots = [...sourceRoots, "native", "tools"]) =>
  roots
    .flatMap((folder) => [...foldersIn(folder)])
    .filter(([folder, count]) => count > most && !larger.has(folder))
    .map(([folder, count]) => `${folder}: ${count} entries, at most ${most}`);
