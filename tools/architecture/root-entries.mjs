// What may stand at the root of the repository. A program run in the wrong folder leaves its output there, and a
// commit of everything takes it along.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));

const known = new Set([
  ...[".ci", ".devcontainer", ".editorconfig", ".git", ".github", ".gitignore"],
  ...[".prettierignore", ".prettierrc.json", "LICENSE", "README.md"],
  ...["package-lock.json", "package.json", "tsconfig.json"],
  ...[
    "apps",
    "common",
    "data",
    "docs",
    "examples",
    "kernel",
    "native",
    "notebooks",
    "src",
    "tests",
    "tools",
  ],
]);

/** Names and endings that .gitignore has: git does not take those along. */
function ignored(name) {
  const lines = readFileSync(join(root, ".gitignore"), "utf8").split("\n").filter(Boolean);
  return lines.some((line) => {
    const pattern = line.replace(/^\/|\/$/g, "");
    return pattern.startsWith("*") ? name.endsWith(pattern.slice(1)) : name === pattern;
  });
}

/** Entries of the root that nobody meant to be there. */
export const unknownEntries = (names = readdirSync(root)) =>
  names.filter((name) => !known.has(name) && !ignored(name));
