// Runs the compiled tests with Node's own runner: `npm test` for all, `npm test -- rollout` for those
// whose path contains a word, in the order of the words. `--slow` adds the suites named *.slow.test.ts,
// `--only-slow` runs no others.
import { readdirSync } from "node:fs";
import { join, relative } from "node:path";
import { run } from "node:test";
import { spec } from "node:test/reporters";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
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
const files = readdirSync(join(root, "dist"), { recursive: true })
  .filter((f) => f.endsWith(".test.js"))
  .filter((f) => (isSlow(f) ? slow : !options.includes("--only-slow")))
  .filter((f) => words.length === 0 || wordOf(f) >= 0)
  .sort((a, b) => wordOf(a) - wordOf(b) || (a < b ? -1 : 1))
  .map((f) => join(root, "dist", f));
if (files.length === 0) {
  console.error(`No test file's path contains ${words.join(" or ")}.`);
  process.exit(1);
}

const again = process.env.ARPO_LAB_TEST_AGAIN === "1";
/** So many files may be tried again: more that fail are no accident. */
const MOST_AGAIN = 3;

// What is asked for by a variable of its own (a cluster, verl) may take an hour on a busy machine.
const asked = process.env.ARPO_LAB_RAY === "1" || process.env.ARPO_LAB_VERL_PYTHON !== undefined;
const timeout = slow ? (asked ? 3_600_000 : 900_000) : 300_000;

/** Runs test files, each in a process of its own: what became of each test. */
async function outcomes(files, concurrency) {
  const found = [];
  const stream = run({ files, concurrency, timeout });
  const add = (outcome) => (data) => {
    const isSuite = data.details?.type === "suite";
    found.push({
      file: data.file ?? data.name,
      test: data.name,
      isSuite,
      outcome: outcome(data),
    });
  };
  stream.on(
    "test:fail",
    add(({ todo }) => (todo ? "skipped" : "failed")),
  );
  stream.on(
    "test:pass",
    add(({ skip, name }) => {
      if (files.includes(name)) return "a file";
      return skip === undefined ? "passed" : "skipped";
    }),
  );
  const ended = new Promise((resolve) => stream.once("end", resolve));
  stream.compose(new spec()).pipe(process.stdout, { end: false });
  await ended;
  // The reporter's last lines come first.
  await new Promise((resolve) => setImmediate(resolve));
  return found;
}

const failuresOf = (found) => found.filter(({ outcome }) => outcome === "failed");
const named = ({ file, test }) => `${relative(root, file)}: ${test}`;

// Two at a time is what the smallest machine can carry.
let found = await outcomes(files, 2);
const failing = new Set(failuresOf(found).map(({ file }) => file));
// On a machine that is shared a test may fail for its neighbours' sake: the gate runs its file once
// more, alone, and says so. What fails twice has failed.
if (again && failing.size > 0 && failing.size <= MOST_AGAIN) {
  const alone = await outcomes([...failing], 1);
  const failed = (tests) => new Set(failuresOf(tests).map(named));
  const passed = (tests) => new Set(tests.filter(({ outcome }) => outcome === "passed").map(named));
  const once = (failures, passes, how) => {
    for (const failure of failures)
      if (passes.has(failure)) console.log(`UNSTEADY ${failure} (${how})`);
  };
  once(failed(found), passed(alone), "failed beside others, passed alone");
  once(failed(alone), passed(found), "passed beside others, failed alone");
  const before = passed(found);
  found = [
    ...found.filter(({ file }) => !failing.has(file)),
    ...alone.filter((test) => test.outcome !== "failed" || !before.has(named(test))),
  ];
}
for (const failure of failuresOf(found)) console.log(`FAILED ${named(failure)}`);
const count = (which) => found.filter((f) => f.outcome === which && !f.isSuite).length;
console.log(`${count("passed")} passed, ${count("failed")} failed, ${count("skipped")} skipped`);
if (failuresOf(found).length > 0) process.exitCode = 1;
