import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const read = (path: string): string => readFileSync(join(root, path), "utf8");

/** The words by which a list of CI chooses slow suites. */
function wordsOf(list: string): string[] {
  const calls = read(list).matchAll(/(?:\bslow|--only-slow) ([^\n;&|}]+)/g);
  return [...calls].flatMap(([, words]) =>
    words!.split(/\s+/).filter((word) => /^[a-z]/.test(word)),
  );
}

test("every slow suite is in the list of .ci/run or of .ci/full, and every word finds a suite", () => {
  const words = [...wordsOf(".ci/run"), ...wordsOf(".ci/full")];
  const dist = join(root, "dist");
  const suites = readdirSync(dist, { recursive: true, encoding: "utf8" })
    .map((name) => name.replaceAll("\\", "/"))
    .filter((name) => name.endsWith(".slow.test.js"));
  const without = suites.filter((name) => !words.some((word) => name.includes(word)));
  assert.deepEqual(without, []);
  for (const word of words)
    assert.ok(
      suites.some((name) => name.includes(word)),
      word,
    );
  assert.ok(words.length > 20, words.join(" "));
});

test("npm scripts, script files and sources that CI calls exist", () => {
  const { scripts } = JSON.parse(read("package.json")) as { scripts: Record<string, string> };
  for (const list of [".ci/run", ".ci/full", ".ci/lib.sh"]) {
    for (const [, name] of read(list).matchAll(/npm run (?:-s )?([\w:-]+)/g))
      assert.ok(name! in scripts, `${list} calls npm run ${name}`);
    for (const [, path] of read(list).matchAll(/\bnode (scripts\/\S+\.mjs)/g))
      assert.ok(read(path!).length > 0, path);
  }
  for (const [name, command] of Object.entries(scripts))
    for (const [, path] of command.matchAll(/\bnode (scripts\/\S+\.mjs)/g))
      assert.ok(read(path!).length > 0, `${name}: ${path}`);
});

test("docs/ci.md has a place for each table", () => {
  for (const list of ["run", "full"])
    assert.match(read("docs/ci.md"), new RegExp(`<!-- ${list} -->[\\s\\S]+<!-- /${list} -->`));
});
