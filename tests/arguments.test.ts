import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

// Plain JavaScript has no types to stop a wrong argument. Every function and class of a stable entry point
// is called with wrong values in every number; it may take them, or refuse them in words of its own, but
// an error from deep inside tells nobody what to fix.
const root = new URL("../../", import.meta.url);
const here = process.cwd();
const empty = mkdtempSync(join(tmpdir(), "arpo-arguments-"));
process.chdir(empty);
// Not `after`: while entry points are still being imported, the tests so far count as all there are.
process.once("exit", () => {
  process.chdir(here);
  rmSync(empty, { recursive: true });
});

const wrong = { null: null, undefined, number: 5, text: "x", object: {}, list: [] };

/** Functions that are not asked, and why. */
const excused: Readonly<Record<string, string>> = {
  systemPython: "starts an interpreter, whatever it is given",
  UnfinishedRollout: "thrown by rollout() alone",
  DataFrame: "another package's class",
  Series: "another package's class",
  concat: "another package's function",
  merge: "another package's function",
};

type Anything = (...args: unknown[]) => unknown;

/** The message an error has when it is the engine's own, or another package's. */
function isOurs(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  // A file that is not there is named by the system as well as we could.
  if (/^E[A-Z]+: /.test(error.message)) return true;
  return (
    /^Cannot [^:]+: /.test(error.message) &&
    !/^Cannot (read|set) propert|is not a function|is not iterable|must be of type/.test(
      error.message,
    )
  );
}

async function call(made: Anything, args: unknown[]): Promise<unknown> {
  const isClass = /^class\b/.test(Function.prototype.toString.call(made));
  const value: unknown = isClass
    ? Reflect.construct(made as never, args)
    : await (made(...args) as Promise<unknown>);
  await (value as { dispose?: () => unknown } | undefined)?.dispose?.();
  return value;
}

const { exports } = JSON.parse(readFileSync(new URL("package.json", root), "utf8")) as {
  exports: Record<string, { default: string } | string>;
};
const seen = new Set<unknown>();
for (const [entry, target] of Object.entries(exports)) {
  if (typeof target === "string" || /^\.\/(kernel|experimental|internal)\b/.test(entry)) continue;
  const exported = (await import(new URL(target.default, root).href)) as Record<string, unknown>;
  for (const [name, made] of Object.entries(exported)) {
    if (typeof made !== "function" || seen.has(made) || excused[name] !== undefined) continue;
    seen.add(made);
    test(`${name}() of arpo-lab${entry.slice(1)} refuses wrong arguments in its own words`, async () => {
      for (const [label, value] of Object.entries(wrong)) {
        for (let count = 0; count <= Math.max(1, made.length); count++) {
          const args = Array.from({ length: count }, () => value);
          try {
            await call(made as Anything, args);
          } catch (error) {
            const got = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
            assert.ok(isOurs(error), `${count} times ${label}: ${got}`);
          }
        }
      }
    });
  }
}
