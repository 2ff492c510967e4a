import assert from "node:assert/strict";
import { test } from "node:test";
import { Random } from "../../base/random/random.js";
import { meanInterval } from "./interval.js";

test("meanInterval() is Wilson's for right-or-wrong values", () => {
  // Newcombe 1998, table I: 81 of 263 and 15 of 148, to four digits.
  const of = (right: number, n: number) =>
    meanInterval(Array.from({ length: n }, (_, i) => Number(i < right)));
  const digits = ({ low, high }: { low: number; high: number }) => [
    low.toFixed(4),
    high.toFixed(4),
  ];
  assert.deepEqual(digits(of(81, 263)), ["0.2553", "0.3662"]);
  assert.deepEqual(digits(of(15, 148)), ["0.0624", "0.1605"]);
  assert.deepEqual(digits(of(0, 20)), ["0.0000", "0.1611"]);
});

test("meanInterval() holds the true mean in at least about 95 of 100 cases", () => {
  const random = Random.from(5);
  for (const p of [0.1, 0.5, 0.9]) {
    let held = 0;
    for (let trial = 0; trial < 2000; trial++) {
      // The mean of two samples per question, as in pass@1 over two samples.
      const draws = random.split(trial).split(String(p));
      const values = Array.from({ length: 30 }, () => {
        const both = [draws.uniform(), draws.uniform()].filter((u) => u < p).length;
        return both / 2;
      });
      const { low, high } = meanInterval(values);
      if (low <= p && p <= high) held++;
    }
    assert.ok(held / 2000 > 0.94, `${p}: ${held / 2000}`);
  }
});

test("meanInterval() of nothing is unknown, and refuses what is no share", () => {
  assert.deepEqual(meanInterval([]), { value: NaN, low: 0, high: 1 });
  assert.throws(() => meanInterval([0.5, 2]), /values must be from 0 to 1, got 2/);
  assert.throws(() => meanInterval([NaN]), /got NaN/);
});
