/**
 * The known name nearest to a mistyped one; undefined when none is near enough to be meant. Of names with
 * dots the end is enough: `model.path` is near to `actor_rollout_ref.model.path`.
 *
 * Cells, configurations, commands and requests all ask here, so that the same mistake gets the same hint.
 *
 * @example
 * ```js
 * import assert from "node:assert/strict";
 * import { nearest } from "./nearest.js";
 *
 * assert.equal(nearest("entropy_wieght", ["entropy_weight", "n"]), "entropy_weight");
 * assert.equal(nearest("colour", ["n", "top_k"]), undefined);
 * ```
 */
export function nearest(name: string, known: Iterable<string>): string | undefined {
  if (typeof name !== "string") {
    throw new TypeError(`Cannot find the nearest name: name must be text, got ${String(name)}`);
  }
  if (typeof known?.[Symbol.iterator] !== "function") {
    throw new TypeError(`Cannot find the nearest name: known must be a list, got ${String(known)}`);
  }
  let best: string | undefined;
  // Of three letters two are most of the name.
  let least = (name.length <= 3 ? 1 : Math.max(2, Math.ceil(name.length / 3))) + 1;
  const parts = name.split(".").length;
  const slip = (candidate: string) => distance(name.toLowerCase(), candidate.toLowerCase());
  for (const candidate of known) {
    const end = candidate.split(".").slice(-parts).join(".");
    const away = Math.min(slip(end), end === candidate ? Infinity : slip(candidate));
    if (away < least) [best, least] = [candidate, away];
  }
  return best;
}

/** Letters to insert, delete or exchange, adjacent letters swapped counting once. */
function distance(a: string, b: string): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      let cost = Math.min(row[j - 1]! + same, row[j]! + 1, next[j - 1]! + 1);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        cost = Math.min(cost, before[j - 2]! + 1);
      }
      next.push(cost);
    }
    [before, row] = [row, next];
  }
  return row[b.length]!;
}
