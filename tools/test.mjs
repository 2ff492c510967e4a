// Runs the compiled tests: `npm test` for all, `npm test -- rollout` for those whose path contains a word, in
// the order of the words. `--slow` adds the suites named *.slow.test.ts, `--only-slow` runs no others.
// ARPO_LAB_TEST_AGAIN=1 runs what failed once more, alone; ARPO_LAB_TEST_SKIPS=strict fails a test that is
// skipped for a reason that tools/testing/skips.mjs does not list, and a file that is not slow and leaves
// something in its temporary folder.
import { readdirSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { runTestFile } from "./testing/run-file.mjs";
import { maySkip } from "./testing/skips.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const dist = join(root, "dist");
const options = process.argv.slice(2).filter((a) => a.startsWith("-"));
const unknown = options.find((a) => a !== "--slow" && a !== "--only-slow");
if (unknown !== undefined) {
  console.error(`Cannot test: the options are --slow and --only-slow, got ${unknown}`);
  process.exit(1);
}
const words = process.argv.slice(2).filter((a) => !a.startsWith("-"));
const slow = options.length > 0;
const isSlow = (file) => file.endsWith(".slow.test.js");

const wordOf = (file) => words.findIndex((w) => file.includes(w));
const files = readdirSync(dist, { recursive: true })
  .map((f) => f.replaceAll("\\", "/"))
  .filter((f) => f.endsWith(".test.js"))
  .filter((f) => (isSlow(f) ? slow : !options.includes("--only-slow")))
  .filter((f) => words.length === 0 || wordOf(f) >= 0)
  .sort((a, b) => wordOf(a) - wordOf(b) || (a < b ? -1 : 1))
  .map((f) => join(dist, f));
if (files.length === 0) {
  console.error(`No test file's path contains ${words.join(" or ")}.`);
  process.exit(1);
}

const again = process.env.ARPO_LAB_TEST_AGAIN === "1";
const strict = process.env.ARPO_LAB_TEST_SKIPS === "strict";
/** At most so many files are run again: more failures are no accident. */
const MOST_AGAIN = 3;
/** One more at a time than there are processors, because tests also wait; each may use them all. */
const AT_ONCE = Math.min(4, availableParallelism() + 1);
/** So few files show all that they print. */
const FEW = 12;

// What is opted into by a variable (a Ray cluster, verl) may take an hour on a busy machine.
const optedIn = process.env.ARPO_LAB_RAY === "1" || process.env.ARPO_LAB_VERL_PYTHON !== undefined;
const limit = slow ? (optedIn ? 3_600_000 : 900_000) : 300_000;

const pathOf = (file) => relative(dist, file).replaceAll("\\", "/");
const failuresOf = (tests) => tests.filter(({ outcome }) => outcome === "failed");
const named = ({ file, test }) => `${pathOf(file)}: ${test}`;

function show({ file, tests, output, left, seconds }) {
  const failed = failuresOf(tests).length;
  const count = tests.filter(({ isSuite }) => !isSuite).length;
  console.log(`${failed > 0 ? "✖" : "✔"} ${pathOf(file)}: ${count} tests, ${seconds.toFixed(1)} s`);
  const said = output.replace(
    /^ℹ (tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) .*\n/gm,
    "",
  );
  if (failed > 0 || files.length <= FEW) console.log(said.trimEnd().replace(/^/gm, "  "));
  else
    for (const { test, outcome, reason } of tests)
      if (outcome === "skipped") console.log(`  ﹣ ${test} # ${reason}`);
  if (left.length > 0) console.log(`LEFT ${pathOf(file)}: ${left.join(", ")}`);
}

/** Runs test files, each in a process of its own: what became of each test. */
async function outcomes(files, atOnce) {
  const found = [];
  const queue = [...files];
  const lane = async () => {
    for (let file; (file = queue.shift()) !== undefined;) {
      const result = await runTestFile(file, { limit });
      for (const test of result.tests) {
        const { outcome, reason, isSuite } = test;
        if (strict && outcome === "skipped" && !isSuite && !maySkip(reason)) {
          test.outcome = "failed";
          test.test += ` (skipped, which CI does not allow for this reason: ${reason || "none"})`;
        }
      }
      if (strict && !isSlow(file) && result.left.length > 0)
        result.tests.push({
          test: `left in the temporary folder: ${result.left.join(", ")}`,
          outcome: "failed",
        });
      show(result);
      found.push(...result.tests.map((test) => ({ file, ...test })));
      seconds.set(file, result.seconds);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
  return found;
}

const seconds = new Map();
let found = await outcomes(files, AT_ONCE);
const slowest = [...seconds].sort(([, a], [, b]) => b - a).slice(0, 10);
if (files.length > FEW)
  console.log(
    `slowest: ${slowest.map(([file, s]) => `${pathOf(file)} ${s.toFixed(0)} s`).join(", ")}`,
  );
const failing = new Set(failuresOf(found).map(({ file }) => file));
// A test may fail because of concurrent load: its file runs once more, alone, and the outcome is printed. What
// fails twice has failed; what failed once is unsteady and needs fixing.
if (again && failing.size > 0 && failing.size <= MOST_AGAIN) {
  const alone = await outcomes([...failing], 1);
  const failed = (tests) => new Set(failuresOf(tests).map(named));
  const passed = (tests) => new Set(tests.filter(({ outcome }) => outcome === "passed").map(named));
  const [first, still] = [passed(found), failed(alone)];
  // A limit that was exceeded, or a process that ended, is no test that could pass: it is absent the second time.
  for (const failure of failed(found))
    if (!still.has(failure))
      console.log(`UNSTEADY ${failure} (failed beside others, passed alone)`);
  for (const failure of still)
    if (first.has(failure)) console.log(`UNSTEADY ${failure} (passed beside others, failed alone)`);
  found = [
    ...found.filter(({ file }) => !failing.has(file)),
    ...alone.filter((test) => test.outcome !== "failed" || !first.has(named(test))),
  ];
}
for (const failure of failuresOf(found)) console.log(`FAILED ${named(failure)}`);
const count = (which) => found.filter((f) => f.outcome === which && !f.isSuite).length;
console.log(`${count("passed")} passed, ${count("failed")} failed, ${count("skipped")} skipped`);
if (failuresOf(found).length > 0) process.exitCode = 1;
