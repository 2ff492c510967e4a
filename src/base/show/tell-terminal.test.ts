import assert from "node:assert/strict";
import { showsLive } from "#platform/note";
import { test } from "node:test";
import { tellTerminal } from "./tell-terminal.js";

test("a terminal is told what is done when it was silent, every few seconds; nothing else is", (t) => {
  let now = performance.now();
  const said: string[] = [];
  t.mock.method(performance, "now", () => now);
  t.mock.method(process.stderr, "write", (text: string) => said.push(text) > 0);
  const { isTTY } = process.stdout;
  t.after(() => (process.stdout.isTTY = isTTY));
  const tellAfter = (seconds: number, terminal = true) => {
    now += seconds * 1000;
    process.stdout.isTTY = terminal;
    tellTerminal(() => `loading at ${said.length}`);
  };
  tellAfter(1);
  tellAfter(10, false);
  assert.deepEqual(said, []);
  tellAfter(0);
  tellAfter(4);
  tellAfter(2);
  // A live line says it already, and nothing is to be written into it.
  showsLive(true);
  tellAfter(10);
  showsLive(false);
  assert.deepEqual(said, ["arpo-lab: loading at 0\n", "arpo-lab: loading at 1\n"]);
});
