import assert from "node:assert/strict";
import { test } from "node:test";
import { packNumbers } from "./pack.js";
import { unpackNumbers } from "./unpack.js";

test("unpackNumbers() gives back what packNumbers() took, and 0 as 0", () => {
  const values = [-1.3471, 0, 2.91, NaN, 0.5, 1e-9];
  const { low, high, data } = packNumbers(values);
  const bytes = Uint8Array.from(Buffer.from(data, "base64"));
  const back = unpackNumbers(new Uint16Array(bytes.buffer), low, high);
  values.forEach((value, i) => {
    if (Number.isNaN(value)) assert.ok(Number.isNaN(back[i]));
    else assert.ok(Math.abs(back[i]! - value) < 1e-4, `${value} became ${back[i]}`);
  });
  assert.equal(back[1], 0);
});
