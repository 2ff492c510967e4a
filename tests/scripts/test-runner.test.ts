import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

const root = new URL("../../../", import.meta.url);
const { runTestFile } = (await import(new URL("tools/testing/run-file.mjs", root).href)) as {
  runTestFile: (
    file: string,
    options: { limit: number },
  ) => Promise<{
    tests: { test: string; outcome: string; reason?: string; isSuite: boolean }[];
    output: string;
    left: string[];
  }>;
};
const { maySkip } = (await import(new URL("tools/testing/skips.mjs", root).href)) as {
  maySkip: (reason: string) => boolean;
};

const folder = mkdtempSync(join(tmpdir(), "test-runner-"));
after(() => rmSync(folder, { recursive: true }));

function testFile(body: string): string {
  const path = join(folder, `${Math.random()}.test.mjs`);
  writeFileSync(path, `import { describe, it, test } from "node:test";\n${body}`);
  return path;
}

test("every test's outcome is told, with the reason of a skip", async () => {
  const { tests, output, left } = await runTestFile(
    testFile(`
      console.log("printed");
      test("passes", () => {});
      test("fails", () => { throw new Error("as it should"); });
      test("skips", { skip: "no browser" }, () => {});
      test("skips itself", (t) => t.skip("no card"));
      test("skips silently", { skip: true }, () => {});
      describe("suite", () => { it("inner", () => {}); });`),
    { limit: 60_000 },
  );
  assert.deepEqual(
    tests.map(({ test, outcome, reason, isSuite }) => [test, outcome, reason, isSuite]),
    [
      ["passes", "passed", undefined, false],
      ["fails", "failed", undefined, false],
      ["skips", "skipped", "no browser", false],
      ["skips itself", "skipped", "no card", false],
      ["skips silently", "skipped", "", false],
      ["inner", "passed", undefined, false],
      ["suite", "passed", undefined, true],
    ],
  );
  assert.match(output, /printed[\s\S]*as it should/);
  assert.deepEqual(left, []);
});

test("the limit is for a test, not for its file", async () => {
  // slow: together they take longer than the limit.
  const nap = "const nap = (ms) => new Promise((done) => setTimeout(done, ms));\n";
  const naps = Array.from({ length: 14 }, (_, i) => `test("nap ${i}", () => nap(500));`);
  const { tests } = await runTestFile(testFile(nap + naps.join("\n")), { limit: 6_000 });
  assert.deepEqual(
    tests.map(({ outcome }) => outcome),
    naps.map(() => "passed"),
  );
  const hung = await runTestFile(
    testFile(`${nap}test("ends", () => {}); test("hangs", () => nap(600_000));`),
    { limit: 4_000 },
  );
  assert.deepEqual(
    hung.tests.map(({ test, outcome }) => [test, outcome]),
    [
      ["ends", "passed"],
      ["nothing ended for 4 s: hangs", "failed"],
    ],
  );
});

test("a file that cannot be loaded, or ends its process, fails", async () => {
  for (const body of ['import "./nowhere.mjs";', 'test("x", () => {}); process.exit(3);']) {
    const { tests } = await runTestFile(testFile(body), { limit: 60_000 });
    assert.equal(tests.at(-1)!.outcome, "failed", body);
    assert.match(tests.at(-1)!.test, /the process ended with/);
  }
});

test("what a file leaves in its temporary folder is named, and removed", async () => {
  const { left, tests } = await runTestFile(
    testFile(`
      import { mkdtempSync } from "node:fs";
      import { tmpdir } from "node:os";
      mkdtempSync(tmpdir() + "/left-");
      test("passes", () => {});`),
    { limit: 60_000 },
  );
  assert.equal(tests[0]!.outcome, "passed");
  assert.equal(left.length, 1);
  assert.match(left[0]!, /^left-/);
});

test("CI allows a skip that no installation avoids, and no other", () => {
  assert.ok(maySkip("shared/data/cache is not here"));
  assert.ok(maySkip("../shared/data/cache/search_cache.json is not here"));
  assert.ok(!maySkip(""));
  assert.ok(!maySkip("there is no /usr/bin/chromium"));
  assert.ok(!maySkip("Dawn finds no adapter here, not even one of software"));
});
