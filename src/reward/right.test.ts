import assert from "node:assert/strict";
import { test } from "node:test";
import { areRight, rightRule } from "./right.js";

const of = (...scores: number[]) => scores.map((score) => ({ score }));
const right = (...scores: number[]) => areRight(of(...scores), rightRule(of(...scores)));

test("a score of the usual scale is right above 0.5", () => {
  assert.deepEqual(right(1, 1.1, 0.4, 0, -1), [true, true, false, false, false]);
  assert.deepEqual(right(0, 0), [false, false]);
  assert.equal(rightRule(of(1, -2)).scale, "usual"); // a penalty for length
  assert.equal(rightRule(of(0, 1)).by, "a score above 0.5");
});

test("what a file tells of success comes before its scores", () => {
  const scores: ({ score: number; parts?: Record<string, number> } | undefined)[] = [
    { score: 3, parts: { acc: 0, length: 9 } },
    { score: -1, parts: { acc: 1 } },
    { score: 2 },
    undefined,
  ];
  const rule = rightRule(scores.flatMap((one) => one ?? []));
  assert.deepEqual(rule, { scale: "success", name: "acc", by: "by acc" });
  assert.deepEqual(areRight(scores, rule), [false, true, false, undefined]);
});

test("of scores with a scale of their own a prompt's best are right, where they differ", () => {
  assert.deepEqual(right(57, 12, 57), [true, false, true]);
  assert.deepEqual(right(-1, -5), [true, false]);
  const rule = rightRule(of(57, 12, 3));
  assert.equal(rule.by, "the best score of its prompt");
  assert.deepEqual(areRight(of(3, 0.9), rule), [true, false]);
  assert.deepEqual(areRight(of(0, 0), rule), [undefined, undefined]);
  assert.deepEqual(areRight([{ score: 2 }, undefined], rule), [undefined, undefined]);
});
