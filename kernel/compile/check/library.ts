// The declarations of JavaScript's standard library, as tools/vendor/typescript.mjs writes them: some names stand in
// files of their own, and comments in files beside those.
import { readFileSync } from "#platform/files";
import { packagePath } from "#platform/modules";
import { join } from "#platform/path";

export const libraryFolder = packagePath("dist/vendor/typescript");

/** Whether a file declares what is read when a cell names it. */
export const isDeclaredLater = (path: string): boolean =>
  path.endsWith(".later.d.ts") && path.startsWith(libraryFolder);

let later: RegExp | undefined;

/** Whether a text has one of the names declared there, or could have all of them. */
export function namesLater(text: string): boolean {
  later ??= readLater();
  return later.test(text);
}

function readLater(): RegExp {
  const manifest = readFileSync(join(libraryFolder, "package.json"), "utf8");
  const { later: names } = JSON.parse(manifest) as { later: string[] };
  return new RegExp(`\\b(?:${names.join("|")}|globalThis|global)\\b|\\\\u`);
}

const numbers = /\/\*\*(\d+)\*\//g;
const comments = new Map<string, string[]>();

/** A text of one of the library's files with the comments that belong there. */
export function withComments(path: string, text: string): string {
  if (!path.startsWith(libraryFolder) || text.search(numbers) < 0) return text;
  let all = comments.get(path);
  if (all === undefined) {
    all = JSON.parse(readFileSync(`${path}.json`, "utf8")) as string[];
    comments.set(path, all);
  }
  const found = all;
  return text.replace(numbers, (_, number: string) => found[Number(number)] ?? "");
}
