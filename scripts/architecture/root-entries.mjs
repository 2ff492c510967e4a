// What may stand at the root of the repository. A program run in the wrong folder leaves its output there, and a
// commit of everything takes it along.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { sourceRoots } from "./source-roots.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));

const known = new Set([
  ...sourceRoots,
  ...[".ci", ".devcontainer", ".editorconfig", ".git", ".github", ".gitignore"],
  ...[
    ".prettierignore",
    ".prettierrc.json",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "LICENSE",
    "README.md",
  ],
  ...[
    "SECURITY.md",
    "bench",
    "bin",
    "data",
    "docs",
    "docs-site",
    "eslint.config.mjs",
    "examples",
    "native",
    "notebooks",
  ],
  ...[
    "package-lock.json",
    "package.json",
    "scripts",
    "tests",
    "tsconfig.json",
    "tsconfig.pages.json",
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
