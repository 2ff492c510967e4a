import assert from "node:assert/strict";
import { test } from "node:test";
import { readJson } from "./body.js";
import { deepest, isTooDeep } from "./nesting.js";

const nested = (depth: number) => `${"[".repeat(depth)}1${"]".repeat(depth)}`;

test("a JSON value is too deep from a number of levels on, however deep it is", () => {
  for (const [depth, expected] of [
    [0, false],
    [deepest, false],
    [deepest + 1, true],
    [200_000, true],
  ] as const)
    assert.equal(isTooDeep(JSON.parse(nested(depth))), expected, String(depth));
});

test("a request whose body is nested without end is refused in words", async () => {
  const body = Buffer.from(`{"content":${nested(100_000)}}`);
  const request = {
    headers: {},
    [Symbol.asyncIterator]: async function* () {
      yield body;
    },
  };
  await assert.rejects(readJson(request, 1e6), {
    message: /at most 500 lists and objects/,
    status: 400,
  });
});
