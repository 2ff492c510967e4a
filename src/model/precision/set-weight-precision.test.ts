import assert from "node:assert/strict";
import { test } from "node:test";
import { stochasticRoundBfloat16 } from "./set-weight-precision.js";

const drawn = (value: number, count: number, step = 1) => {
  const values = new Float32Array(count).fill(value);
  stochasticRoundBfloat16(values, step, 0);
  return values;
};
const mean = (values: Float32Array) => values.reduce((a, b) => a + b, 0) / values.length;

test("a value between two of bfloat16 becomes either, and their mean is the value", () => {
  // Beside 1 lie 1 + 1/128 above it and 1 - 1/256 below it.
  for (const [value, low, high] of [
    [1 + 1 / 512, 1, 1 + 1 / 128],
    [-1 - 3 / 512, -1 - 1 / 128, -1],
    [3e-39, 2.938735877055719e-39, 3.0305713732137101e-39],
  ] as const) {
    const values = drawn(value, 1 << 18);
    assert.deepEqual(new Set(values), new Set([Math.fround(low), Math.fround(high)]));
    // A mean of n draws is off by a gap / (2 sqrt(n)) at most; five of them.
    assert.ok(
      Math.abs(mean(values) - value) < (5 * (high - low)) / 2 / 512,
      `${mean(values)} for ${value}`,
    );
  }
});

test("what is in bfloat16, infinite or NaN stays; draws depend on step and place alone", () => {
  for (const value of [0, -0, 1, 0.10009765625, Infinity, -Infinity, NaN]) {
    assert.deepEqual(new Set(drawn(value, 100)), new Set([value]));
  }
  const value = 1 + 1 / 256;
  assert.deepEqual(drawn(value, 1000, 3), drawn(value, 1000, 3));
  const first = drawn(value, 1000, 3);
  const second = drawn(value, 1000, 4);
  const same = first.filter((x, i) => x === second[i]).length;
  assert.ok(same > 400 && same < 600, `${same} of 1000 alike in two steps`);
});
