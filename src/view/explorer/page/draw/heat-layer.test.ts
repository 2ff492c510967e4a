import assert from "node:assert/strict";
import { test } from "node:test";
import { Random } from "../../../../base/random/random.js";
import { barAt } from "./heat-layer.js";

test("every bar has its columns, and wide ones are a pixel of the page apart wherever they begin", () => {
  const random = Random.from(1);
  const places = Array.from({ length: 300 }, () => [
    200 * random.uniform(),
    2 + 6 * random.uniform(),
  ]);
  // Beginnings of bars that fall on the middle of a pixel, too.
  for (const [left, each] of [...places, [50.5, 6.1875], [49, 4.5], [0.5, 5]] as [number, number][])
    for (const ratio of [1, 1.25, 2, 3]) {
      const count = 60;
      const [first, last] = [Math.round(left * ratio), Math.round((left + count * each) * ratio)];
      const columns = Array.from({ length: last - first }, (_, i) =>
        barAt(first + i, left, each, ratio),
      );
      const spaces = columns.flatMap((bar, i) =>
        bar < 0 ? [columns.slice(0, i).findLast((b) => b >= 0)] : [],
      );
      const what = `left ${left}, each ${each}, ratio ${ratio}`;
      const seen = new Set(columns.filter((bar) => bar >= 0 && bar < count));
      assert.equal(seen.size, count, what);
      const expected = each < 4 ? 0 : count - 1;
      assert.ok(new Set(spaces).size >= expected, `${new Set(spaces).size} spaces at ${what}`);
      assert.ok(spaces.length <= count * Math.max(1, Math.round(ratio)), what);
    }
});
