import assert from "node:assert/strict";
import { test } from "node:test";
import { mathEquivalent } from "./math-equivalence.js";
import { numericEquivalent } from "./numeric-equivalence.js";

const equal: [string, string][] = [
  ["1,000", "1000"],
  ["1{,}234{,}567", "1234567"],
  ["1\\,000", "1000"],
  ["0.50", "1/2"],
  [".5", "\\frac{1}{2}"],
  ["-0.25", "-\\frac14"],
  ["\u22123", "-3"],
  ["2.0", "2"],
  ["+7", "7"],
  ["1\\frac{1}{2}", "1.5"],
  ["3\\times10^{4}", "30,000"],
  ["5e-1", "0.5"],
  ["50\\%", "50%"],
  ["$12$", "12."],
  ["x = 2.50", "5/2"],
  ["\\{2,1\\}", "\\{1,2\\}"],
  ["\\left\\{ 1, 0.5 \\right\\}", "\\{1/2, 1\\}"],
  ["2, 1", "1, 2"],
  ["\\{1, 2\\}", "2, 1"],
  ["(0.5, 2)", "(\\frac12, 2.0)"],
  ["(5)", "5"],
  ["\\sqrt3, 1", "1, \\sqrt{3}"],
  ["1,\\!234", "1234"],
  ["1, 234", "234, 1"],
];
const different: [string, string][] = [
  ["1,000", "1"],
  ["1,00", "100"],
  ["1234", "1, 234"],
  ["1234", "1 ,234"],
  ["1234", "1,~234"],
  ["(1,234)", "1234"],
  ["[1, 234]", "1234"],
  ["(2,1)", "(1,2)"],
  ["(1,2)", "[1,2]"],
  ["\\{1,1\\}", "\\{1,2\\}"],
  ["\\{1,2\\}", "\\{1,2,3\\}"],
  ["0.333", "1/3"],
  ["1/0", "0"],
  ["", "0"],
  ["two", "2"],
  ["-2", "2"],
  ["\\frac{1}{2}x", "1/2"],
];

test("numericEquivalent() compares numbers and sets by value", () => {
  for (const [a, b] of equal) {
    assert.ok(numericEquivalent(a, b), `${a} = ${b}`);
    assert.ok(numericEquivalent(b, a), `${b} = ${a}`);
  }
  for (const [a, b] of different) {
    assert.ok(!numericEquivalent(a, b), `${a} is not ${b}`);
    assert.ok(!numericEquivalent(b, a), `${b} is not ${a}`);
  }
});

test("numericEquivalent() holds wherever mathEquivalent() does, and mathEquivalent() stays the reference's", () => {
  assert.ok(!mathEquivalent("1,000", "1000") && !mathEquivalent("0.50", "1/2"));
  for (const [a, b] of [...equal, ...different]) {
    if (mathEquivalent(a, b)) assert.ok(numericEquivalent(a, b));
  }
});
