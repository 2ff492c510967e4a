import assert from "node:assert/strict";
import { test } from "node:test";
import { asText } from "./answer-metrics.js";

test("asText() writes what Python's str() writes", () => {
  const written: [unknown, string][] = [
    ["as it is\u0000", "as it is\u0000"],
    [null, "None"],
    [true, "True"],
    [70, "70"],
    [1.5, "1.5"],
    [0.00001, "1e-05"],
    [1.25e-12, "1.25e-12"],
    [["a", "it's", 'say "it\'s"'], `['a', "it's", 'say "it\\'s"']`],
    [["a\nb\\", "\u00a0\u200b\u{e0001}", "é北"], "['a\\nb\\\\', '\\xa0\\u200b\\U000e0001', 'é北']"],
    [{ a: [1, null, false] }, "{'a': [1, None, False]}"],
  ];
  for (const [value, text] of written) assert.equal(asText(value), text);
  assert.throws(() => asText(Symbol("s")), /must come from a data file, got symbol/);
});
