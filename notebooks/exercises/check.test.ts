import assert from "node:assert/strict";
import { test } from "node:test";
import { agree, ask, checkFunction, Unanswered } from "./check.js";

test("agree() compares numbers to a tolerance and lists item by item", () => {
  assert.ok(agree(1, 1 + 1e-7) && agree(0, -0) && agree([1, [2]], [1, [2]]));
  assert.ok(!agree(1, 1.001) && !agree(NaN, NaN) && !agree([1], [1, 2]) && !agree("1", 1));
  assert.ok(agree([1, 2], Float32Array.of(1, 2)) && agree(1, 1.001, 0.01));
});

test("checkFunction() judges by cases that the function cannot change", () => {
  const smallest = (x: number[]) => x.sort((a, b) => a - b)[0]!;
  const cases = [[[[3, 1, 2]], 9]] as const satisfies [[number[]], number][];
  const { message } = checkFunction(smallest, cases, { because: "it is." });
  assert.equal(message, "for ([3, 1, 2]) it gives 1, but should give 9.");
});

test("checkFunction() says that a list is wanted where something else is given", () => {
  const off = (_: [number], found: number[]) => String(found.map((x) => x));
  const verdict = checkFunction((x: number) => x as unknown as number[], [[[1], [1]]], {
    because: "it is.",
    off,
  });
  assert.equal(verdict.message, "for (1) it gives 1, but should give [1]. A list is wanted.");
});

test("ask() takes a function without a result for one that is not written yet", () => {
  assert.throws(() => ask(() => undefined), Unanswered);
});
