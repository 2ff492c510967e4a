import assert from "node:assert/strict";
import { test } from "node:test";
import { consoleLogger } from "../../run/loggers/console.js";
import { printable } from "./printable.js";

test("terminal escapes in what a model writes are shown, not obeyed", () => {
  assert.equal(printable("\u001b]0;title\u0007\u001b[31mred"), "\\x1b]0;title\\x07\\x1b[31mred");
  assert.equal(
    printable("over\rwritten \u009b2J \u202etxt\u2066"),
    "over\\x0dwritten \\x9b2J \\u202etxt\\u2066",
  );
  assert.equal(printable("line\r\nline\n\ttab, é, 漢, 😀"), "line\nline\n\ttab, é, 漢, 😀");
});

test("the training table shows escapes in validation answers", () => {
  let text = "";
  const logger = consoleLogger({ write: (more) => void (text += more) });
  void logger.answers?.(1, [{ input: "q", output: "\u001b[2J", score: 0, reason: "\u001b[1A" }]);
  assert.ok(!text.includes("\u001b"), JSON.stringify(text));
});
