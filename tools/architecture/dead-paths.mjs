// A path of the repository that a comment or a document names must be there. Files move and are renamed; what is
// said of them stays behind.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path/posix";
import { root } from "./imports.mjs";

/** What is kept as it was written: logs, changes, and what was laid down before an experiment. */
const history = /^docs\/(internal\/log|CHANGELOG|evidence\/preregistration)/;
/** Its test makes up dead paths. */
const ownTest = "tests/scripts/dead-paths.test.ts";
/** Other people's repositories, and files that examples make up. */
const elsewhere = /^(standalone\/|cell-\d+\.|agent\.mjs$|other\.ts$)/;

const ofRoot =
  /(?<![\w./@~-])(?:common|src|kernel|apps|tools|tests|docs|examples|notebooks|native)\/[\w@./-]*\w/g;
const file = /(?<![\w./@~\\-])[\w-]+(?:\/[\w.-]+)*\.(?:ts|mjs|cc)\b(?![\w/])/g;
const comment = /\/\*[\s\S]*?\*\/|(?<=^|[\s;{}(),])\/\/[^\n]*/g;
const hasEnding = /\.(ts|mjs|cc|md|py|json|ipynb|svg|png)$/;

/** The paths that are there, as a question. */
export function pathsOf(files) {
  const entries = new Set(files);
  for (const path of files)
    for (let at = path.indexOf("/"); at > 0; at = path.indexOf("/", at + 1))
      entries.add(path.slice(0, at));
  const ends = new Set(
    files.flatMap((path) => path.split("/").map((_, i, parts) => parts.slice(i).join("/"))),
  );
  return { has: (path) => entries.has(path), ends: (path) => ends.has(path) };
}

/** The paths that a file names and that are not there, as `path:line: named`. */
export function deadPathsIn(path, text, known) {
  const isDocument = path.endsWith(".md");
  const isTest = /\.test\.ts$|^tests\//.test(path);
  const faults = new Set();
  const told = isDocument ? [[text, 0]] : [...text.matchAll(comment)].map((m) => [m[0], m.index]);
  for (const [words, from] of told) {
    const fault = (named, at) =>
      faults.add(`${path}:${text.slice(0, from + at).split("\n").length}: ${named} is not there`);
    for (const { 0: found, index } of words.matchAll(ofRoot)) {
      const next = words[index + found.length];
      // A pattern, and a name that stands for many.
      if (/[*{<]/.test(next ?? "") || /[A-Z]{3}/.test(found) || known.has(found)) continue;
      // Metrics have slashes too (`tools/total_calls`); folders are looked for where only code is.
      if (hasEnding.test(found) || /^(src|kernel|common|apps)\/[\w/-]+$/.test(found))
        fault(found, index);
    }
    for (const { 0: found, index } of words.matchAll(file)) {
      if (/[A-Z]{3}/.test(found) || elsewhere.test(found) || known.ends(found)) continue;
      // Documents and tests make up files of a person's own.
      const isShort = !found.includes("/");
      if (isShort && (isTest || (isDocument && path !== "docs/architecture.md"))) continue;
      if (!/^(dist|node_modules)\//.test(found)) fault(found, index);
    }
  }
  return [...faults];
}

const relative = /(?<=["'])(?:\.\.\/)+[\w@./-]+\.(?:py|mjs|js|ts|json|md)(?=["'])/g;

/** Beside the repository, and what a written file names. */
const besides = /\/shared\/data\/|\/tsconfig\.json$/;

/** The files beside itself that a module's texts name and that are not there: what runs is built into `dist`. */
export function deadFilesBesideIn(path, text, known) {
  const folder = dirname(path.endsWith(".ts") ? join("dist", path) : path);
  const isThere = (named) => {
    const at = join(folder, named);
    if (!at.startsWith("dist/")) return known.has(at);
    const source = at.slice("dist/".length);
    return known.has(source) || known.has(source.replace(/js$/, "ts"));
  };
  return [...text.matchAll(relative)]
    .filter(([named]) => !besides.test(named) && !isThere(named))
    .map(
      ({ 0: named, index }) =>
        `${path}:${text.slice(0, index).split("\n").length}: ${named} is not there`,
    );
}

/** Every dead path of the repository. */
export function deadPaths() {
  const listed = execFileSync("git", ["ls-files", "-co", "--exclude-standard"], { cwd: root });
  const files = String(listed)
    .split("\n")
    .filter((path) => path && existsSync(join(root, path)));
  const known = pathsOf(files);
  return files
    .filter((path) => /^docs\/.*\.md$|\.(ts|mjs)$/.test(path))
    .filter((path) => !history.test(path) && path !== ownTest)
    .flatMap((path) => {
      const text = readFileSync(join(root, path), "utf8");
      const beside = path.endsWith(".md") ? [] : deadFilesBesideIn(path, text, known);
      return [...deadPathsIn(path, text, known), ...beside];
    });
}
