import assert from "node:assert/strict";
import { test } from "node:test";
import { stackFrames } from "./stack-frames.js";

test("frames are read as V8, SpiderMonkey and JavaScriptCore write them", () => {
  const v8 =
    "Error: at f (x:1:2)\nis the message\n    at f (cell-1.ts:2:9)\n    at async Object.<anonymous> (http://a/b.js:10:1)\n    at cell-1.ts:4:1";
  assert.deepEqual(stackFrames(v8), [
    { name: "f", file: "cell-1.ts", row: 2, column: 9 },
    { name: "async Object.<anonymous>", file: "http://a/b.js", row: 10, column: 1 },
    { name: "", file: "cell-1.ts", row: 4, column: 1 },
  ]);
  const spiderMonkey =
    "f@cell-1.ts:2:9\n@cell-1.ts:4:1\nasync*g/<@http://a:1/b.js line 3 > eval:7:1\n";
  assert.deepEqual(stackFrames(spiderMonkey), [
    { name: "f", file: "cell-1.ts", row: 2, column: 9 },
    { name: "", file: "cell-1.ts", row: 4, column: 1 },
    { name: "g", file: "http://a:1/b.js line 3 > eval", row: 7, column: 1 },
  ]);
  const javaScriptCore = "f@cell-1.ts:2:9\neval code@cell-1.ts:4:1\neval@[native code]\n";
  assert.deepEqual(stackFrames(javaScriptCore), [
    { name: "f", file: "cell-1.ts", row: 2, column: 9 },
    { name: "", file: "cell-1.ts", row: 4, column: 1 },
  ]);
});
