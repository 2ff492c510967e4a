import assert from "node:assert/strict";
import { test } from "node:test";
import { mean, median, mode, std, variance } from "./statistics.js";

test("the statistics are the sample's, and leave out what is missing", () => {
  const values = [2, null, 4, undefined, 4, NaN, 5, "", 5, 7, 9];
  assert.equal(mean(values), 36 / 7);
  assert.equal(median(values), 5);
  assert.equal(median([4, 1, 3, 2]), 2.5);
  assert.ok(Math.abs(variance([2, 4, 4, 4, 5, 5, 7, 9]) - 32 / 7) < 1e-12);
  assert.equal(std([1, 3]), Math.SQRT2);
  assert.deepEqual(mode([4, 4, 5, 5, 6]), [4, 5]);
  assert.deepEqual(mode(["b", "a", "b"]), ["b"]);
});

test("the statistics of one value and of none are numbers, not errors", () => {
  assert.deepEqual([mean([3]), median([3]), variance([3]), std([3])], [3, 3, 0, 0]);
  for (const of of [mean, median, variance, std]) assert.equal(of([null]), NaN);
  assert.deepEqual(mode([]), []);
});
