import { checkArguments } from "../../../common/options/check-arguments.js";

/**
 * The unbiased estimate of the chance that one of k samples is right, from c right ones among n:
 * 1 - C(n-c, k) / C(n, k), as a product that cannot overflow.
 *
 * @param counts samples (`n`), right ones among them (`correct`) and `k`
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { passAtK } from "arpo-lab/run";
 *
 * assert.equal(passAtK({ n: 5, correct: 1, k: 5 }), 1);
 * assert.ok(Math.abs(passAtK({ n: 5, correct: 1, k: 1 }) - 0.2) < 1e-12);
 * ```
 */
export function passAtK(counts: { n: number; correct: number; k: number }): number {
  checkArguments(
    "estimate pass@k",
    { counts },
    { counts: { n: "number", correct: "number", k: "number" } },
  );
  const { n, correct, k } = counts;
  if (!Number.isInteger(n) || n < 1) {
    throw new RangeError(`Cannot estimate pass@k: n must be a positive integer, got ${n}`);
  }
  if (!Number.isInteger(k) || k < 1 || k > n) {
    throw new RangeError(`Cannot estimate pass@k: k must be from 1 to n (${n}), got ${k}`);
  }
  if (!Number.isInteger(correct) || correct < 0 || correct > n) {
    throw new RangeError(
      `Cannot estimate pass@k: correct must be from 0 to n (${n}), got ${correct}`,
    );
  }
  let allWrong = 1;
  for (let i = 0; i < k; i++) allWrong *= Math.max(0, n - correct - i) / (n - i);
  return 1 - allWrong;
}
