/** Edits (insert, delete, replace) from one text to another. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replace = row[j - 1]! + Number(a[i - 1] !== b[j - 1]);
      next.push(Math.min(replace, row[j]! + 1, next[j - 1]! + 1));
    }
    row = next;
  }
  return row[b.length]!;
}

/**
 * The known name nearest to a mistyped one; undefined when none is near enough to be meant.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { nearest } from "arpo-lab/text";
 *
 * assert.equal(nearest("entropy_wieght", ["entropy_weight", "n"]), "entropy_weight");
 * assert.equal(nearest("colour", ["n", "top_k"]), undefined);
 * ```
 */
export function nearest(name: string, known: Iterable<string>): string | undefined {
  let best: string | undefined;
  let least = Math.max(2, Math.floor(name.length / 3)) + 1;
  for (const candidate of known) {
    const edits = distance(name.toLowerCase(), candidate.toLowerCase());
    if (edits < least) [best, least] = [candidate, edits];
  }
  return best;
}
