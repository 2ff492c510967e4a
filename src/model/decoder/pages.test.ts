import assert from "node:assert/strict";
import { test } from "node:test";
import { PAGE_SIZE, Pages } from "./pages.js";

function feed(pages: Pages, sequence: number, count: number) {
  const extension = pages.extend(sequence, count);
  pages.commit(extension);
  return extension;
}

test("Pages shares all pages of a fork and copies only a half-full last one", () => {
  const released: number[] = [];
  const pages = new Pages((page) => released.push(page));
  const sequence = pages.open();
  feed(pages, sequence, 2 * PAGE_SIZE + 5);
  assert.equal(pages.used, 3);
  const fork = pages.fork(sequence);
  assert.equal(pages.used, 3);
  const extension = feed(pages, fork, 1);
  assert.equal(pages.used, 4);
  assert.deepEqual(extension.copy, [2, 3]);
  assert.deepEqual(extension.pages, [0, 1, 3]);
  assert.equal(feed(pages, sequence, 1).copy, undefined);
  pages.close(sequence);
  assert.deepEqual(released, [2]);
  pages.close(fork);
  assert.equal(pages.used, 0);
});

test("Pages does not copy when a full page ends the shared part", () => {
  const pages = new Pages();
  const sequence = pages.open();
  feed(pages, sequence, PAGE_SIZE);
  const fork = pages.fork(sequence);
  assert.equal(feed(pages, fork, 1).copy, undefined);
  assert.equal(pages.used, 2);
});

test("Pages forgets an extension that is rolled back", () => {
  const pages = new Pages();
  const sequence = pages.open();
  feed(pages, sequence, 5);
  const fork = pages.fork(sequence);
  pages.rollBack(pages.extend(fork, 40));
  assert.equal(pages.used, 1);
  assert.equal(pages.length(fork), 5);
});

test("Pages.truncate() gives back what lies beyond and refuses lengths out of range", () => {
  const pages = new Pages();
  const sequence = pages.open();
  feed(pages, sequence, 3 * PAGE_SIZE);
  pages.truncate(sequence, PAGE_SIZE + 1);
  assert.equal(pages.used, 2);
  assert.throws(() => pages.truncate(sequence, PAGE_SIZE + 2), /from 0 to 17, got 18/);
  pages.truncate(sequence, 0);
  assert.equal(pages.used, 0);
  assert.throws(() => pages.fork(99), /Cannot fork sequence 99: no such sequence is open/);
});
