import assert from "node:assert/strict";
import { test } from "node:test";
import { Semaphore } from "./semaphore.js";

const tick = () => new Promise<void>((resolve) => setImmediate(resolve));

test("a semaphore lets its permits through at once, the others in the order they came", async () => {
  const semaphore = new Semaphore(2);
  const finish: (() => void)[] = [];
  const started: number[] = [];
  const results = [0, 1, 2, 3].map((n) =>
    semaphore.run(() => {
      started.push(n);
      return new Promise<number>((resolve) => finish.push(() => resolve(n * n)));
    }),
  );
  assert.deepEqual([started, semaphore.held, semaphore.waiting], [[0, 1], 2, 2]);
  finish[1]!();
  await tick();
  assert.deepEqual(started, [0, 1, 2]);
  finish[0]!();
  await tick();
  finish[2]!();
  finish[3]!();
  assert.deepEqual(await Promise.all(results), [0, 1, 4, 9]);
  assert.deepEqual([semaphore.held, semaphore.waiting], [0, 0]);
});

test("a semaphore whose first in line leaves lets those behind it through", async () => {
  const semaphore = new Semaphore(3);
  await semaphore.acquire(2);
  const stop = new AbortController();
  const large = semaphore.acquire(3, stop.signal);
  const small = semaphore.acquire(1);
  await tick();
  assert.equal(semaphore.waiting, 2, "a small one does not overtake");
  stop.abort(new Error("gone"));
  await assert.rejects(large!, /gone/);
  await small;
  assert.deepEqual([semaphore.held, semaphore.waiting], [3, 0]);
  assert.throws(() => semaphore.acquire(1, stop.signal), /gone/);
});

test("a semaphore may lose and gain permits while they are held", async () => {
  const semaphore = new Semaphore(2);
  await semaphore.acquire(2);
  const next = semaphore.acquire();
  semaphore.permits = 1;
  semaphore.release();
  await tick();
  assert.deepEqual([semaphore.held, semaphore.waiting], [1, 1]);
  semaphore.permits = 2;
  await next;
  assert.equal(semaphore.held, 2);
  assert.throws(() => new Semaphore(0), /permits must be a positive integer, got 0/);
});
