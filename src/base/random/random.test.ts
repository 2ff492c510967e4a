import assert from "node:assert/strict";
import { test } from "node:test";
import { Random } from "./random.js";

test("Random.at() gives Philox4x32-10's published answer for the zero key and counter", () => {
  // Random123's known-answer test: philox4x32-10, all zero -> 6627e8d5 e169c58d bc57ac4c 9b00dbd8.
  const expected = ((0x6627e8d5 >>> 5) * 2 ** 26 + (0xe169c58d >>> 6)) / 2 ** 53;
  assert.equal(Random.from(0).at(0), expected);
});

test("Random.split() gives streams that neither share draws nor move their parent", () => {
  const parent = Random.from(3);
  const first = parent.at(0);
  const seen = new Set<number>();
  for (let row = 0; row < 500; row++) {
    const child = parent.split("sample").split(row);
    for (let i = 0; i < 4; i++) seen.add(child.uniform());
  }
  assert.equal(seen.size, 2000);
  assert.equal(parent.uniform(), first);
  assert.notEqual(parent.split(1).at(0), parent.split("1").at(0));
  assert.notEqual(parent.split("abcdefgh").at(0), parent.split("abcdefghi").at(0));
});

test("Random.restore() continues where state() was taken", () => {
  const a = Random.from(11).split("shuffle");
  a.uniform();
  const b = Random.restore(JSON.parse(JSON.stringify(a.state())) as ReturnType<Random["state"]>);
  assert.deepEqual([a.uniform(), a.uniform()], [b.uniform(), b.uniform()]);
});

test("Random draws are uniform, and normal ones have mean 0 and deviation 1", () => {
  const r = Random.from(1);
  let sum = 0;
  let normal = 0;
  let square = 0;
  const n = 20_000;
  for (let i = 0; i < n; i++) {
    sum += r.uniform();
    const z = r.normal();
    normal += z;
    square += z * z;
  }
  assert.ok(Math.abs(sum / n - 0.5) < 0.01);
  assert.ok(Math.abs(normal / n) < 0.03);
  assert.ok(Math.abs(square / n - 1) < 0.05);
});

test("Random.shuffle() permutes and Random.from() rejects a bad seed", () => {
  const shuffled = Random.from(5).shuffle([1, 2, 3, 4, 5, 6]);
  assert.deepEqual([...shuffled].sort(), [1, 2, 3, 4, 5, 6]);
  assert.throws(() => Random.from(-1), /Cannot seed: .* got -1/);
  assert.throws(() => Random.from(0).integer(0), RangeError);
});
