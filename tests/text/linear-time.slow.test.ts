// Whatever a model, a tool, a page or an endpoint wrote costs time in proportion to its length: every function that
// reads such text is in this table, and is given texts made to be slow. What is compared is the work of a text and
// of one four times as long.
import assert from "node:assert/strict";
import { test } from "node:test";
import { shapes, units } from "./slow-texts.js";
import { textReaders } from "./text-readers.js";

/** CPU time of a call in milliseconds. */
function work(run: (text: string) => unknown, text: string): number {
  const began = process.cpuUsage();
  try {
    run(text);
  } catch (error) {
    assert.ok(error instanceof Error);
    // A refusal is an answer; a stack that is too deep is not.
    assert.doesNotMatch(error.message, /call stack/, `${text.slice(0, 20)}…`);
  }
  const { user, system } = process.cpuUsage(began);
  return (user + system) / 1000;
}

/** Less than these is noise, in milliseconds: what is looked at again, and what a short text is taken to need. */
const noise = 25;
const least = 15;

/** The work of a text four times as long, and what it may be at most; the least of some attempts, which others disturb. */
function growth(run: (text: string) => unknown, make: (size: number) => string, size: number) {
  let [short, long] = [Infinity, Infinity];
  for (let attempt = 0; attempt < 12; attempt++) {
    short = Math.min(short, work(run, make(size)));
    long = Math.min(long, work(run, make(4 * size)));
    if (long <= 8 * Math.max(short, least)) break;
  }
  return { long, most: 8 * Math.max(short, least) };
}

for (const [name, run] of Object.entries(textReaders)) {
  test(`${name} takes time in proportion to the text`, () => {
    const slowest: { text: string; make: (size: number) => string; took: number }[] = [];
    for (const unit of units) {
      for (const [shape, shaped] of Object.entries(shapes)) {
        const make = (size: number): string => shaped(unit, size);
        const text = `${JSON.stringify(unit)} ${shape}`;
        const took = work(run, make(16_000));
        if (took > noise) {
          const { long, most } = growth(run, make, 4000);
          assert.ok(long <= most, `${text}: ${long} ms of 16,000, at most ${most}`);
        }
        slowest.push({ text, make, took });
      }
    }
    slowest.sort((a, b) => b.took - a.took);
    for (const { text, make } of slowest.slice(0, 8)) {
      const { long, most } = growth(run, make, 50_000);
      assert.ok(long <= most, `${text}: ${long} ms of 200,000, at most ${most}`);
    }
  });
}
