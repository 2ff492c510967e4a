import assert from "node:assert/strict";
import { test } from "node:test";
import { packHalf, unpackHalf } from "./half.js";

function values(type: "float16" | "bfloat16"): Float32Array {
  const out = new Float32Array(0x10000);
  unpackHalf(
    Uint16Array.from({ length: 0x10000 }, (_, i) => i),
    type,
    out,
  );
  return out;
}

for (const type of ["float16", "bfloat16"] as const) {
  test(`packHalf() undoes unpackHalf() for every ${type} that is a number`, () => {
    const all = values(type);
    const back = packHalf(all, type);
    for (let bits = 0; bits < all.length; bits++) {
      if (!Number.isNaN(all[bits])) assert.equal(back[bits], bits);
      else assert.ok(Number.isNaN(all[back[bits]!]));
    }
  });

  test(`packHalf() rounds to the nearest ${type}, ties to even, by brute force`, () => {
    // Adjacent positive values, their middle, and the single-precision numbers beside the middle.
    const all = values(type);
    const step = new Float32Array(1);
    const bits = new Uint32Array(step.buffer);
    const last = type === "float16" ? 0x7bfe : 0x7f7e;
    for (let i = 0; i <= last; i += 7) {
      const low = all[i]!;
      const high = all[i + 1]!;
      step[0] = low / 2 + high / 2;
      if (step[0] <= low || step[0] >= high) continue; // no single between two subnormals
      const even = i % 2 === 0 ? i : i + 1;
      assert.equal(packHalf(step, type)[0], even);
      bits[0]!++;
      assert.equal(packHalf(step, type)[0], i + 1);
      bits[0]! -= 2;
      assert.equal(packHalf(step, type)[0], i);
      step[0] = -(low / 2 + high / 2);
      assert.equal(packHalf(step, type)[0], even | 0x8000);
    }
  });
}

test("packHalf() gives infinity above the range and keeps signs and NaN", () => {
  const odd = new Float32Array([65519.996, 65520, -1e30, NaN, -0, 2 ** -25, 2 ** -24]);
  const bits = packHalf(odd, "float16");
  assert.deepEqual([...bits], [0x7bff, 0x7c00, 0xfc00, 0x7e00, 0x8000, 0, 1]);
  const wide = packHalf(new Float32Array([3.4e38, -3.4e38, NaN]), "bfloat16");
  assert.equal(wide[0], 0x7f80);
  assert.equal(wide[1], 0xff80);
  assert.ok((wide[2]! & 0x7fff) > 0x7f80);
});
