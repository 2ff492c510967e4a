// The tests of test262 that a cell can be asked, read as its INTERPRETING.md says.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join, relative } from "node:path";
import { cacheFolder } from "../../../kernel/host/cache-folder.js";

/** The state of the suite that is fetched. */
const commit = "be13516fb6";
const repository = "https://github.com/tc39/test262";

/** What cells have of TypeScript whether or not the engine has it: an older one refuses all of it. */
const typescripts = new Set(["explicit-resource-management", "decorators"]);

export interface Test262 {
  path: string;
  source: string;
  includes: string[];
  isAsync: boolean;
  /** What must be thrown, and whether before anything runs. */
  negative?: { phase: string; type: string };
}

/** Where the suite is: ARPO_LAB_TEST262 names a folder, else it is fetched once. A string says why not. */
export function suiteFolder(): { folder: string } | string {
  const given = process.env["ARPO_LAB_TEST262"];
  if (given !== undefined) {
    return existsSync(join(given, "harness/assert.js"))
      ? { folder: given }
      : `${given} has no test262`;
  }
  const folder = join(cacheFolder(), `test262-${commit}`);
  if (existsSync(folder)) return { folder };
  const making = `${folder}.${process.pid}`;
  const git = (...args: string[]): unknown =>
    execFileSync("git", args, { cwd: making, timeout: 120_000, stdio: "pipe" });
  try {
    mkdirSync(making, { recursive: true });
    git("init", "-q");
    git("fetch", "-q", "--depth", "1", repository, "main");
    git("checkout", "-q", "FETCH_HEAD");
    renameSync(making, folder);
    return { folder };
  } catch (error) {
    const [why = ""] = String((error as { stderr?: unknown }).stderr ?? error)
      .trim()
      .split("\n");
    return `test262 cannot be fetched (${why}); ARPO_LAB_TEST262 names a folder that has it`;
  } finally {
    rmSync(making, { recursive: true, force: true });
  }
}

export const testPaths = (folder: string): string[] =>
  readdirSync(join(folder, "test/language"), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".js") && !path.includes("_FIXTURE"))
    .map((path) => relative(folder, join(folder, "test/language", path)).replaceAll("\\", "/"))
    .sort();

/** One test; a string says why a cell cannot be asked it. */
export function readTest(folder: string, path: string): Test262 | string {
  const source = readFileSync(join(folder, path), "utf8");
  const head = /\/\*---([^]*?)---\*\//.exec(source)?.[1] ?? "";
  const flags = listOf(head, "flags");
  for (const flag of ["noStrict", "raw", "CanBlockIsTrue", "CanBlockIsFalse"]) {
    if (flags.includes(flag)) return `flag ${flag}`;
  }
  for (const feature of listOf(head, "features")) {
    if (typescripts.has(feature)) return `feature ${feature}`;
  }
  const unicode = Number(/unicode-(\d+)/.exec(path)?.[1] ?? 0);
  // TypeScript's tables of letters are older than the engine's (docs/cells.md).
  if (unicode > 15) return "letters of Unicode 16 and 17";
  // It takes one `await { function() {} }` in a file for what it is, not two.
  if (path.endsWith("await-expr-obj-literal.js"))
    return "TypeScript's parser: await { f() {} } twice";
  if (path.endsWith("module-code/eval-this.js")) return "this of a cell (docs/cells.md)";
  // Modules beside the test would be modules of another loader there and here.
  if (/_FIXTURE|\bimport\s*\(|\$262\b/.test(source)) return "other files, $262";
  const phase = /phase:\s*(\w+)/.exec(head)?.[1];
  const type = /negative:[^]*?type:\s*(\w+)/.exec(head)?.[1];
  return {
    path,
    source,
    includes: listOf(head, "includes"),
    isAsync: flags.includes("async"),
    ...(phase !== undefined && type !== undefined && { negative: { phase, type } }),
  };
}

function listOf(head: string, key: string): string[] {
  const inline = new RegExp(`^${key}:\\s*\\[([^\\]]*)\\]`, "m").exec(head)?.[1];
  const items =
    inline?.split(",") ??
    new RegExp(`^${key}:\\s*\\n((?:[ \\t]+-.*\\n?)*)`, "m")
      .exec(head)?.[1]
      ?.split("\n")
      .map((line) => line.replace(/^\s*-/, ""));
  return (items ?? []).map((item) => item.trim()).filter(Boolean);
}
