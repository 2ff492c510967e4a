import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";

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

test("what CI, the workflows and package.json call exists", () => {
  const { scripts } = JSON.parse(read("package.json")) as { scripts: Record<string, string> };
  const workflows = readdirSync(join(root, ".github/workflows")).map(
    (name) => `.github/workflows/${name}`,
  );
  assert.ok(workflows.length >= 3);
  const callers = [
    ".ci/run",
    ".ci/full",
    ".ci/newest",
    ".ci/lib.sh",
    ".devcontainer/devcontainer.json",
    "package.json",
  ];
  let calls = 0;
  for (const caller of [...callers, ...workflows]) {
    const text = read(caller);
    for (const [, name] of text.matchAll(/npm run (?:-s )?([\w:-]+)/g)) {
      assert.ok(name! in scripts, `${caller} calls npm run ${name}`);
      calls++;
    }
    for (const [, path] of text.matchAll(/\bnode (tools\/\S+?\.mjs)/g)) {
      assert.ok(existsSync(join(root, path!)), `${caller} calls ${path}`);
      calls++;
    }
    for (const [, path] of text.matchAll(/- run: (\.ci\/\w+)/g)) {
      assert.ok(existsSync(join(root, path!)), `${caller} calls ${path}`);
      calls++;
    }
  }
  assert.ok(calls > 30, `${calls} calls`);
});

test("a release compiles every platform's addon", async () => {
  const { addons } = (await import(
    pathToFileURL(join(root, "tools/package/package-rules.mjs")).href
  )) as {
    addons: string[];
  };
  const named = [...read(".github/workflows/release.yml").matchAll(/\{ name: ([\w-]+),/g)];
  assert.deepEqual(named.map(([, name]) => name).sort(), [...addons].sort());
});

test("a file that nobody meant to be at the root is named", async () => {
  const { unknownEntries } = (await import(
    pathToFileURL(join(root, "tools/architecture/root-entries.mjs")).href
  )) as { unknownEntries: (names?: string[]) => string[] };
  assert.deepEqual(unknownEntries(["src", "family", "dist", "a.tgz", "out.json"]), [
    "family",
    "out.json",
  ]);
  assert.deepEqual(unknownEntries(), []);
});

test("a folder of product code with more than 20 entries is named", async () => {
  const { crowdedFolders } = (await import(
    pathToFileURL(join(root, "tools/architecture/folder-sizes.mjs")).href
  )) as { crowdedFolders: (roots?: string[]) => string[] };
  assert.match(
    crowdedFolders(["tests"]).join("\n"),
    /^tests\/golden\/cases: \d+ entries, at most 20$/m,
  );
  assert.deepEqual(crowdedFolders(), []);
});

test("docs/ci.md has a place for each table", () => {
  for (const list of ["run", "full"])
    assert.match(read("docs/ci.md"), new RegExp(`<!-- ${list} -->[\\s\\S]+<!-- /${list} -->`));
});
