import assert from "node:assert/strict";
import { test } from "node:test";
import { plusMinus, withEnds } from "./interval-text.js";

test("an estimate is rounded to what its interval supports", () => {
  const cases: [number, number, string][] = [
    [0.38021, 0.19538, "0.38 ± 0.20"],
    [0.5, 1.2706, "0.5 ± 1.3"],
    [0.6083, 0.00042, "0.60830 ± 0.00042"],
    [0.6083, 0.0996, "0.61 ± 0.10"],
    [1234.5, 567.8, "1230 ± 570"],
    [12.345, 12, "12 ± 12"],
    [-0.00004, 0.031, "-0.000 ± 0.031"],
    [0.123456, NaN, "0.123"],
    [0.123456, 0, "0.123 ± 0"],
  ];
  for (const [value, half, text] of cases) assert.equal(plusMinus(value, half), text);
  assert.deepEqual(withEnds(0.41666, 0.19, 0.68), { value: "0.42", low: "0.19", high: "0.68" });
  assert.deepEqual(withEnds(0.5, 0.5, 0.5), { value: "0.5", low: "0.5", high: "0.5" });
});
