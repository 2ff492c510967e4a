import { currentHost } from "../../host/host.js";
import type { Bar, BarOptions } from "./bar.js";
import { BarGroup } from "./group.js";

let group: BarGroup | undefined;

function bar(options: BarOptions = {}): Bar {
  const cell = currentHost()?.cell();
  const run = cell?.id ?? "";
  if (group?.run !== run || !group.active) group = new BarGroup(run, cell?.signal);
  return group.add(options);
}

/** How many items there are, where that is known before counting. */
function totalOf(items: object): number | undefined {
  const { length, size } = items as { length?: unknown; size?: unknown };
  if (typeof length === "number") return length;
  return typeof size === "number" ? size : undefined;
}

function* watch<T>(items: Iterable<T>, options: BarOptions): Generator<T, void, undefined> {
  const own = bar(options);
  let finished = false;
  try {
    for (const item of items) {
      yield item;
      own.advance();
    }
    finished = true;
  } finally {
    own.done(finished ? "done" : "stopped");
  }
}

async function* watchAsync<T>(
  items: AsyncIterable<T> | Iterable<T>,
  options: BarOptions,
): AsyncGenerator<Awaited<T>, void, undefined> {
  const own = bar(options);
  const signal = currentHost()?.cell()?.signal;
  let finished = false;
  try {
    for await (const item of items) {
      yield item;
      own.advance();
      // An interrupted run must not go on behind the next cell's back.
      signal?.throwIfAborted();
    }
    finished = true;
  } finally {
    own.done(finished ? "done" : "stopped");
  }
}

/** What `progress` returns for items that can be walked without waiting. */
export interface Watched<T> extends Iterable<T>, AsyncIterable<Awaited<T>> {}

function progressOf(items: number, options?: BarOptions): Watched<number>;
function progressOf<T>(items: Iterable<T>, options?: BarOptions): Watched<T>;
function progressOf<T>(items: AsyncIterable<T>, options?: BarOptions): AsyncIterable<Awaited<T>>;
function progressOf<T>(
  items: number | Iterable<T> | AsyncIterable<T>,
  options: BarOptions = {},
): Watched<T> | Watched<number> | AsyncIterable<Awaited<T>> {
  if (typeof items === "number") {
    if (!Number.isSafeInteger(items) || items < 0) {
      throw new RangeError(
        `Cannot show progress: a count must be an integer of at least 0, got ${items}`,
      );
    }
    return progressOf(
      Array.from({ length: items }, (_, i) => i),
      options,
    );
  }
  const all = { total: totalOf(items), ...options };
  if (Symbol.iterator in items) {
    return {
      [Symbol.iterator]: () => watch(items, all),
      [Symbol.asyncIterator]: () => watchAsync(items, all),
    };
  }
  return { [Symbol.asyncIterator]: () => watchAsync(items, all) };
}

/**
 * Walks items and shows how far it got: `for (const x of progress(items))`, or `for await`.
 *
 * A bar knows its total from `length` or `size`, or from `{ total }`. Bars inside bars share one
 * display, which is updated in place at most ten times a second and keeps its last state.
 * `progress.bar({ total })` is a bar to move by hand.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { progress } from "arpo-lab/kernel";
 *
 * let sum = 0;
 * for (const x of progress([1, 2, 3], { label: "sum" })) sum += x;
 * assert.equal(sum, 6);
 *
 * const bar = progress.bar({ label: "steps", total: 2 });
 * bar.advance(1, "loss 0.5");
 * bar.advance();
 * bar.done();
 * ```
 */
export const progress = Object.assign(progressOf, { bar });
