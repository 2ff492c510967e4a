import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync, existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

// Plain JavaScript has no types to stop a wrong argument. Every function and class that a room exports
// is called with wrong values in every number; it may take them, or refuse them in words of its own, but
// an error from deep inside tells nobody what to mend.
const rooms = new URL("../src/", import.meta.url);
const here = process.cwd();
const empty = mkdtempSync(join(tmpdir(), "arpo-arguments-"));
process.chdir(empty);
// Not `after`: while rooms are still being imported, the tests so far count as all there are.
process.once("exit", () => {
  process.chdir(here);
  rmSync(empty, { recursive: true });
});

const wrong = { null: null, undefined, number: 5, text: "x", object: {}, list: [] };

/** Rooms and functions that are not asked, and why. */
const excused: Readonly<Record<string, string>> = {
  tensor: "kernels: called for every layer of every token, by code whose tensors are typed",
  frame: "another package's classes",
  arguments: "what refuses them",
  show: "where kinds of values are registered, by this package alone",
  watch: "what keeps a run alive, by this package alone; it changes the process",
  "learn.readConversation": "what a row lacks is counted by who reads the file",
  "run.SftRun": "made by its open() alone; its constructor is private",
  "tools.calculate": "its errors are answers that a model reads",
  "rollout.UnfinishedRollout": "thrown by rollout() alone",
  "scale.TinkerClient": "made by its connect() alone; its constructor is private",
  "scale.TinkerPolicy": "made by engine.tinker() alone",
  "doctor.checkMachine": "measures the machine for seconds, whatever it is given",
  "run.trainTiny": "trains for minutes",
  "model.decoderLayer": "a step of the model's inner loop",
  "model.sample": "called for every token",
  "tools.systemPython": "starts an interpreter, whatever it is given",
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

const seen = new Set<unknown>();
for (const room of readdirSync(rooms)) {
  const entrance = new URL(`${room}/index.js`, rooms);
  if (!existsSync(entrance) || excused[room] !== undefined) continue;
  const exported = (await import(entrance.href)) as Record<string, unknown>;
  for (const [name, made] of Object.entries(exported)) {
    if (typeof made !== "function" || seen.has(made)) continue;
    seen.add(made);
    if (excused[`${room}.${name}`] !== undefined) continue;
    test(`${room}.${name}() refuses wrong arguments in its own words`, async () => {
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
