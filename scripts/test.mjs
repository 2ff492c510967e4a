// Runs the compiled tests with Node's own runner: `npm test` for all, `npm test -- rollout` for those
// whose path contains a word. `--slow` adds the suites named *.slow.test.ts.
import { readdirSync } from "node:fs";
import { join, relative } from "node:path";
import { run } from "node:test";
import { spec } from "node:test/reporters";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const unknown = process.argv.slice(2).find((a) => a.startsWith("-") && a !== "--slow");
if (unknown !== undefined) {
  console.error(`Cannot test: the only option is --slow, got ${unknown}`);
  process.exit(1);
}
const words = process.argv.slice(2).filter((a) => !a.startsWith("-"));
const slow = process.argv.includes("--slow");

const files = readdirSync(join(root, "dist"), { recursive: true })
  .filter((f) => f.endsWith(".test.js"))
  .filter((f) => slow || !f.endsWith(".slow.test.js"))
  .filter((f) => words.length === 0 || words.some((w) => f.includes(w)))
  .sort()
  .map((f) => join(root, "dist", f));
if (files.length === 0) {
  console.error(`No test file's path contains ${words.join(" or ")}.`);
  process.exit(1);
}

let passed = 0;
let failed = 0;
let skipped = 0;
const failures = [];
// Each file runs in a process of its own; two at a time is what the smallest machine can carry.
// What is asked for by a variable of its own (a cluster, verl) may take an hour on a busy machine.
const asked = process.env.ARPO_LAB_RAY === "1" || process.env.ARPO_LAB_VERL_PYTHON !== undefined;
const timeout = slow ? (asked ? 3_600_000 : 900_000) : 300_000;
const stream = run({ files, concurrency: 2, timeout });
const isFile = (data) => files.includes(data.name) || data.details?.type === "suite";
stream.on("test:fail", (data) => {
  if (data.todo) return;
  if (data.details?.type !== "suite") failed++;
  failures.push(`${relative(root, data.file ?? data.name)}: ${data.name}`);
  process.exitCode = 1;
});
stream.on("test:pass", (data) => {
  if (isFile(data)) return;
  if (data.skip !== undefined) skipped++;
  else passed++;
});
stream.compose(new spec()).pipe(process.stdout);
stream.once("end", () => {
  setImmediate(() => {
    for (const f of failures) console.log(`FAILED ${f}`);
    console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
  });
});
