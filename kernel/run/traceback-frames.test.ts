import assert from "node:assert/strict";
import { test } from "node:test";
import { stackFrames } from "./traceback.js";

const inCell = ["f@cell-1.ts:2:9", "@cell-1.ts:4:1"];
const stacks = {
  V8: [
    ...[
      "Error: at f (x:1:2)",
      "is the message",
      "    at f (cell-1.ts:2:9)",
      "    at cell-1.ts:4:1",
    ],
    "    at async g (http://a:1/b.js:7:1)",
    "    at async cell-2.ts:1:7",
  ],
  SpiderMonkey: ["f@cell-1.ts:2:9", "@cell-1.ts:4:1", "async*g/<@http://a:1/b.js:7:1", ""],
  JavaScriptCore: ["f@cell-1.ts:2:9", "eval code@cell-1.ts:4:1", "eval@[native code]", ""],
};
const expected = {
  V8: [...inCell, "async g@http://a:1/b.js:7:1", "@cell-2.ts:1:7"],
  SpiderMonkey: [...inCell, "g@http://a:1/b.js:7:1"],
  JavaScriptCore: inCell,
};

for (const engine of ["V8", "SpiderMonkey", "JavaScriptCore"] as const) {
  test(`frames are read as ${engine} writes them`, () => {
    const frames = stackFrames(stacks[engine].join("\n"));
    const told = frames.map(({ name, file, row, column }) => `${name}@${file}:${row}:${column}`);
    assert.deepEqual(told, expected[engine]);
  });
}
