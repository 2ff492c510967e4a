import assert from "node:assert/strict";
import { test } from "node:test";
import { checkOptions, integer, oneOf, valuesOf } from "./check-options.js";
import {
  type Complete,
  completed,
  following,
  type Given,
  group,
  key,
  keysOf,
  option,
  rulesOf,
  unset,
} from "./option-table.js";

const inner = { depth: option(integer(1), 3), kind: option(oneOf(["a", "b"]), "a") };
const table = {
  /** How often. */
  times: option(integer(1), 2, key("shout.times", "How often", { most: 9 })),
  first: following(integer(1)),
  tone: unset(oneOf(["loud", "quiet"])),
  inner: group<Given<typeof inner>, Complete<typeof inner>>(inner),
  stop: unset(valuesOf<AbortSignal>("signal?")),
};

test("a table gives the check, the defaults and the keys", () => {
  const given: Given<typeof table> = { tone: "loud", inner: { kind: "b" } };
  checkOptions("shout", given, rulesOf(table));
  const complete: Complete<typeof table> = completed(table, given, { first: 7 });
  assert.deepEqual(complete, {
    ...{ times: 2, first: 7, tone: "loud", inner: { depth: 3, kind: "b" } },
  });
  assert.deepEqual(
    keysOf(table).map(([name, { path, most }]) => [name, path, most]),
    [["times", "shout.times", 9]],
  );
  const wrong = (options: object, message: RegExp) =>
    assert.throws(() => checkOptions("shout", options, rulesOf(table) as never), message);
  wrong({ tims: 1 }, /got tims; did you mean times\?/);
  wrong({ inner: { kind: "c" } }, /inner.kind must be one of a, b, got "c"/);
  // @ts-expect-error: what follows from others must be said
  completed(table, given, {});
  // @ts-expect-error: not one of the names
  void ({ tone: "lou" } satisfies Given<typeof table>);
});
