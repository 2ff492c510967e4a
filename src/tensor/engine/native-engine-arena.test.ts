import assert from "node:assert/strict";
import { test } from "node:test";
import { Arena } from "./native-engine.js";

const MB = 1 << 18; // floats

function counted() {
  const made: number[] = [];
  const arena = new Arena((bytes) => {
    made.push(bytes);
    return new ArrayBuffer(bytes);
  });
  return { arena, made };
}

test("arrays of an arena do not overlap, whatever is given back between", () => {
  const { arena } = counted();
  let state = 1;
  const random = (below: number) => (state = (state * 48271) % 2147483647) % below;
  const live = new Map<Float32Array, number>();
  for (let i = 0; i < 400; i++) {
    if (live.size > 20 || (live.size > 0 && random(3) === 0)) {
      const array = [...live.keys()][random(live.size)]!;
      assert.ok(array.every((x) => x === live.get(array)));
      live.delete(array);
      arena.release(array);
    } else {
      const array = arena.allocate(1 + random(30_000)).fill(i);
      assert.equal(array.byteOffset % 64, 0);
      assert.ok(arena.owns(array));
      live.set(array, i);
    }
  }
  for (const [array, value] of live) {
    assert.ok(array.every((x) => x === value));
    arena.release(array);
  }
  assert.equal(arena.memory().used, 0);
});

test("Arena uses again what was given back, in other sizes too", () => {
  const { arena, made } = counted();
  for (let i = 0; i < 5; i++) {
    const small = Array.from({ length: 20 }, () => arena.allocate(MB));
    for (const array of small) arena.release(array);
    const large = [arena.allocate(5 * MB), arena.allocate(3 * MB)];
    for (const array of large) arena.release(array);
  }
  assert.equal(made.length, 1);
  assert.deepEqual(arena.memory(), { used: 0, idle: 32 * 2 ** 20 });
});

test("Arena gives an array larger than a slab a slab of its own", () => {
  const { arena, made } = counted();
  const large = arena.allocate(50 * MB);
  assert.equal(large.length, 50 * MB);
  assert.ok(made[0]! >= 50 * MB * 4);
  arena.release(large);
});

test("Arena lets go of an empty slab it has more than enough without", () => {
  const { arena, made } = counted();
  // Seven slabs, each with room that none of the arrays fits into.
  const arrays = Array.from({ length: 7 }, () => arena.allocate(20 * MB));
  assert.equal(made.length, 7);
  for (const array of arrays) arena.release(array);
  assert.deepEqual(arena.memory(), { used: 0, idle: 6 * 32 * 2 ** 20 });
});
