import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { bound, formatNumber, inspectShort, inspectText } from "./inspect.js";

test("inspectText() shows nested values fully while they are small", () => {
  const value = { a: [{ b: new Map([["k", { deep: { deeper: [1] } }]]) }] };
  assert.match(inspectText(value), /deeper: \[ 1 \]/);
});

test("inspectText() ends quickly and short on a huge nested value", () => {
  const wide = (depth: number): unknown =>
    depth === 0 ? 1 : Array.from({ length: 90 }, () => wide(depth - 1));
  const text = inspectText(wide(3));
  assert.ok(text.length < 110_000, `${text.length} characters`);
  assert.match(text, /\[Array\]/);
});

test("inspectText() cuts a huge string with a notice", () => {
  assert.match(inspectText("x".repeat(5_000_000)), /more characters/);
});

test("inspectText() follows circular structures once", () => {
  const a: { b?: unknown } = {};
  a.b = { a };
  assert.match(inspectText(a), /\[Circular \*1\]/);
});

test("inspectText() names a value whose inspection throws", () => {
  const value = {
    [inspect.custom]() {
      throw new Error("not today");
    },
  };
  assert.match(inspectText(value), /cannot be inspected: not today/);
});

test("inspectText() does not run getters or proxy traps", () => {
  let ran = 0;
  const value = {
    get x() {
      ran++;
      return 1;
    },
  };
  inspectText(value);
  inspectText(
    new Proxy(
      { y: 1 },
      {
        get() {
          throw new Error("trap");
        },
      },
    ),
  );
  assert.equal(ran, 0);
});

test("inspectShort() keeps one line", () => {
  assert.equal(inspectShort({ a: 1, b: "x\ny" }), "{ a: 1, b: 'x\\ny' }");
  assert.equal(inspectShort("a\nb"), "a b");
  assert.equal(inspectShort("y".repeat(100), 10), "yyyyyyyyy…");
});

test("formatNumber() is exact where short", () => {
  assert.deepEqual(
    [0.5, 1e21, 123456, 0.1 + 0.2, 1.23456789e-9, NaN, -Infinity].map(formatNumber),
    ["0.5", "1e+21", "123456", "0.3", "1.235e-9", "NaN", "-Infinity"],
  );
});

test("bound() says how much it left out", () => {
  assert.equal(bound("abcdef", 4), "abcd\n… 2 more characters");
});
