// One test file in a process of its own: with a limit for each test, not for the file, and a temporary folder
// of its own, which shows what the file leaves behind.
import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { devNull, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const reporter = fileURLToPath(new URL("reporter.mjs", import.meta.url));
const windows = process.platform === "win32";
const running = new Set();

/** Ends the test file's process and what it started. */
function kill(child) {
  try {
    if (windows) child.kill("SIGKILL");
    else process.kill(-child.pid, "SIGKILL");
  } catch {
    // It has ended by itself.
  }
}
for (const signal of ["SIGINT", "SIGTERM"]) {
  process.once(signal, () => {
    running.forEach(kill);
    process.exit(1);
  });
}

/** What is left in a folder; processes that a test started may need a moment to clean up. */
async function leftIn(folder) {
  // Chromium's own folders are Chromium's to remove.
  const left = () => readdirSync(folder).filter((name) => !/^(org\.)?chromium/i.test(name));
  for (let turn = 0; turn < 50 && left().length > 0; turn++)
    await new Promise((later) => setTimeout(later, 100));
  return left();
}

/**
 * Runs one compiled test file. `limit`: the most milliseconds from the end of one test to the end of the next.
 * Resolves to `tests` ({ test, outcome, reason, isSuite }), what the file printed, its seconds, and the names
 * of what it `left` in its temporary folder.
 */
export async function runTestFile(file, { limit }) {
  const began = performance.now();
  const folder = mkdtempSync(join(tmpdir(), "at-"));
  const env = { ...process.env, TMPDIR: folder, TMP: folder, TEMP: folder };
  delete env.NODE_TEST_CONTEXT;
  const args = ["--test-reporter=spec", "--test-reporter-destination=stdout"];
  args.push(`--test-reporter=${reporter}`, `--test-reporter-destination=${devNull}`, file);
  const child = spawn(process.execPath, args, {
    env,
    stdio: ["ignore", "pipe", "pipe", "ipc"],
    detached: !windows,
  });
  running.add(child);
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text) => (output += text));

  const tests = [];
  const begun = [];
  let over;
  let timer;
  const wait = () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      over = begun.join(", ") || "no test runs, and the file does not end";
      kill(child);
    }, limit);
  };
  wait();
  child.on("message", ({ type, name, skip, todo, isSuite }) => {
    wait();
    if (type === "test:dequeue") return void begun.push(name);
    const at = begun.lastIndexOf(name);
    if (at >= 0) begun.splice(at, 1);
    const skipped = skip ?? todo;
    if (type === "test:fail" && todo === undefined)
      tests.push({ test: name, outcome: "failed", isSuite });
    else if (skipped === undefined) tests.push({ test: name, outcome: "passed", isSuite });
    else {
      const reason = skipped === true ? "" : skipped;
      tests.push({ test: name, outcome: "skipped", isSuite, reason });
    }
  });
  const code = await new Promise((resolve) => child.on("close", resolve));
  clearTimeout(timer);
  running.delete(child);
  const fail = (test) => {
    tests.push({ test, outcome: "failed", isSuite: false });
    output += `✖ ${test}\n`;
  };
  if (over !== undefined) fail(`nothing ended for ${limit / 1000} s: ${over}`);
  else if (code !== 0 && !tests.some(({ outcome }) => outcome === "failed"))
    fail(`the process ended with ${code}`);
  // What an example of a doc comment writes shows its reader where it is.
  const left = /[\\/]examples[\\/]/.test(file) ? [] : await leftIn(folder);
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  return { file, tests, output, left, seconds: (performance.now() - began) / 1000 };
}
