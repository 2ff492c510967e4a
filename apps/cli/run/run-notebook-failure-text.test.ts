import assert from "node:assert/strict";
import { test } from "node:test";
import { failureText } from "./run-notebook.js";

const failure = {
  cell: { cell_type: "code" as const, id: "a", source: "throw new Error(said)", metadata: {} },
  index: 0,
  error: {
    ename: "Error",
    evalue: "\u001b]0;owned\u0007\u001b[2J",
    traceback: ["\u001b[31mError\u001b[39m: \u001b]0;owned\u0007\u001b[2J\u009b1A"],
  },
};

test("what an error quotes moves no cursor and names no window, in a terminal and in a file", () => {
  for (const color of [true, false]) {
    const text = failureText(failure as never, "a.ipynb", color);
    const rest = text.replaceAll("\u001b[31m", "").replaceAll("\u001b[39m", "");
    assert.doesNotMatch(rest, /[^\P{Cc}\n\t]/u);
    assert.match(text, /\\x1b\]0;owned\\x07/);
    assert.equal(text.includes("\u001b[31mError\u001b[39m"), color);
  }
});

test("what is wrong is said once", () => {
  const error = {
    ename: "TypeError",
    evalue: "TS2345: Cannot call f: n must be number, got string (line 1:3)",
    traceback: [
      "\u001b[31mTS2345: Cannot call f: n must be number, got string\u001b[39m",
      "    at cell 1",
    ],
  };
  const text = failureText({ ...failure, error } as never, "a.ipynb", true);
  assert.equal(text.split("Cannot call f").length, 2);
  assert.match(text, /at cell 1/);
});
