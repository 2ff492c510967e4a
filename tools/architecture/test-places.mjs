// A test stands beside the source of its name, or under tests/.
import { execFileSync } from "node:child_process";
import { basename, dirname } from "node:path";
import { root } from "./imports.mjs";

/** `NAME.test.ts` and `NAME-ASPECT.test.ts`, each slow or not, are beside NAME.ts. */
function isBesideItsSource(test, known) {
  const words = basename(test)
    .replace(/(\.slow)?\.test\.ts$/, "")
    .split("-");
  return words.some((_, i) =>
    known.has(`${dirname(test)}/${words.slice(0, words.length - i).join("-")}.ts`),
  );
}

/** The tests of a list of files that stand neither beside their source nor under tests/. */
export function strayTestsIn(files) {
  const known = new Set(files);
  return files
    .filter((path) => /\.test\.ts$/.test(path) && !path.startsWith("tests/"))
    .filter((path) => !isBesideItsSource(path, known))
    .map(
      (path) =>
        `${path}: it is named after no source beside it; name it SOURCE.test.ts or SOURCE-ASPECT.test.ts, or move it to tests/`,
    );
}

/** Every such test of the repository. */
export function strayTests() {
  const list = (...options) =>
    execFileSync("git", ["ls-files", ...options], { cwd: root, encoding: "utf8" }).split("\n");
  const deleted = new Set(list("-d"));
  return strayTestsIn(
    list("-co", "--exclude-standard").filter((path) => path && !deleted.has(path)),
  );
}
