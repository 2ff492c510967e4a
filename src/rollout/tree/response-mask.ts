import { checkArguments } from "../../arguments/check-arguments.js";

/**
 * Which positions of a right-padded response are attended: 1 up to and including the first end token
 * anywhere in it.
 *
 * Without an end token the reference attends to every position, padding included, and so places the
 * reward on the last padding token. `length`, the number of real tokens, ends attention there instead.
 */
export function responseAttention(
  padded: ArrayLike<number>,
  eosIds: readonly number[],
  length: number = padded?.length,
): Uint8Array {
  const mask = new Uint8Array(padded.length);
  for (let i = 0; i < length; i++) {
    mask[i] = 1;
    if (eosIds.includes(padded[i]!)) break;
  }
  return mask;
}

/**
 * Which positions are trained on: those the model wrote and attention reaches.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { lossMask } from "arpo-lab/rollout";
 *
 * assert.deepEqual([...lossMask([1, 0, 0, 1], [1, 1, 1, 0])], [1, 0, 0, 0]);
 * ```
 */
export function lossMask(written: ArrayLike<number>, attention: ArrayLike<number>): Uint8Array {
  checkArguments("make a mask", { written, attention }, { written: "list", attention: "list" });
  return Uint8Array.from({ length: attention.length }, (_, i) =>
    written[i] === 1 && attention[i] === 1 ? 1 : 0,
  );
}
