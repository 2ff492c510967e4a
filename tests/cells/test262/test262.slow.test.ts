// A sample of test262's language tests, each run as a cell and as Node's own module: a cell must pass what
// a module passes. ARPO_LAB_TEST262_COUNT and ARPO_LAB_TEST262_SEED choose the sample.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { Random } from "../../../src/base/random/random.js";
import { temporaryFolder } from "../../temporary.js";
import { TestSession } from "../test-session.js";
import type { Job } from "./child.js";
import { readTest, suiteFolder, type Test262, testPaths } from "./suite.js";

const suite = suiteFolder();
const skip = typeof suite === "string" ? suite : false;
const count = Number(process.env["ARPO_LAB_TEST262_COUNT"] ?? 600);
const seed = Number(process.env["ARPO_LAB_TEST262_SEED"] ?? Date.now() % 1_000_000);
const child = fileURLToPath(new URL("child.js", import.meta.url));
const place = temporaryFolder("test262");

/** What a test threw, "" for nothing. */
async function outcome(
  test: Test262,
  js: string,
  isModule: boolean,
  folder: string,
): Promise<string> {
  const at = join(place, `${isModule ? "m" : "c"}${Math.random()}`);
  const { includes, isAsync } = test;
  const job: Job = { folder, includes, isAsync, js, isModule, result: `${at}.out` };
  writeFileSync(`${at}.json`, JSON.stringify(job));
  const process = spawn(
    globalThis.process.execPath,
    ["--no-warnings", "--experimental-vm-modules", child, `${at}.json`],
    { stdio: "ignore", timeout: 60_000 },
  );
  await new Promise((resolve) => process.on("close", resolve));
  try {
    return JSON.parse(readFileSync(`${at}.out`, "utf8")) as string;
  } catch {
    return "it did not end";
  }
}

/** Whether what was thrown is what the test asks for. */
const passes = ({ negative }: Test262, thrown: string): boolean =>
  negative === undefined ? thrown === "" : thrown.startsWith(`${negative.type}:`);

test(
  `cells pass what modules pass: ${count} tests of test262, seed ${seed}`,
  { skip },
  async () => {
    const { folder } = suite as { folder: string };
    const session = new TestSession(place);
    const areas = new Map<
      string,
      { both: number; neither: number; cell: number; module: number }
    >();
    const left = new Map<string, number>();
    const worse: string[] = [];
    const better: string[] = [];
    const paths = Random.from(seed).split("test262").shuffle(testPaths(folder));
    const waiting: Test262[] = [];
    for (const path of paths) {
      if (waiting.length >= count) break;
      const read = readTest(folder, path);
      if (typeof read !== "string") waiting.push(read);
      else left.set(read, (left.get(read) ?? 0) + 1);
    }
    const work = async (): Promise<void> => {
      for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
        const compiled = await session.compile(`%%js\n${next.source}`);
        session.compiler.settled(compiled.id, "ok", undefined);
        const [cell, module] = await Promise.all([
          compiled.ok && "js" in compiled
            ? outcome(next, compiled.js, false, folder)
            : `SyntaxError: ${compiled.ok ? "" : compiled.diagnostics[0]!.message}`,
          outcome(next, next.source, true, folder),
        ]);
        const area = next.path
          .split("/")
          .slice(2, 4)
          .join("/")
          .replace(/\/[^/]*\.js$/, "");
        const row = areas.get(area) ?? { both: 0, neither: 0, cell: 0, module: 0 };
        areas.set(area, row);
        const [ours, theirs] = [passes(next, cell), passes(next, module)];
        row[ours ? (theirs ? "both" : "cell") : theirs ? "module" : "neither"]++;
        const text = `${next.path}\n    cell: ${cell}\n    module: ${module}`;
        if (theirs && !ours) worse.push(text);
        else if (ours && !theirs) better.push(text);
      }
    };
    await Promise.all([work(), work()]);
    const lines = [...areas]
      .sort()
      .map(
        ([area, { both, neither, cell, module }]) =>
          `${area.padEnd(44)} ${[both, neither, cell, module].map((n) => String(n).padStart(8)).join("")}`,
      );
    const head = `${"area".padEnd(44)} ${["both", "neither", "cell", "module"].map((n) => n.padStart(8)).join("")}`;
    console.log(
      [
        `seed ${seed}; left out: ${JSON.stringify(Object.fromEntries(left))}`,
        head,
        ...lines,
        ...worse,
        ...better,
      ].join("\n"),
    );
    assert.equal(worse.length, 0, worse.join("\n"));
  },
);
