import { checkArguments } from "../../../common/options/check-arguments.js";

/**
 * Counts branchings in a row for AEPO's penalty, by prompt, as the reference does.
 *
 * After a round, if any trajectory was added anywhere in the batch, every prompt that gained one (a branch or
 * a refill) counts one more and every other starts again; if none was added, nothing changes.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { ConsecutivePenalty } from "arpo-lab/experimental/entropy";
 *
 * const penalty = new ConsecutivePenalty(2);
 * penalty.endRound(new Set([0]));
 * penalty.endRound(new Set());
 * assert.deepEqual([penalty.count(0), penalty.count(1)], [1, 0]);
 * penalty.endRound(new Set([1]));
 * assert.deepEqual([penalty.count(0), penalty.count(1)], [0, 1]);
 * ```
 */
export class ConsecutivePenalty {
  readonly #counts: number[];

  constructor(prompts: number) {
    checkArguments("count branchings", { prompts }, { prompts: "count" });
    this.#counts = new Array<number>(prompts).fill(0);
  }

  count(prompt: number): number {
    return this.#counts[prompt]!;
  }

  endRound(gained: ReadonlySet<number>): void {
    if (gained.size === 0) return;
    for (let i = 0; i < this.#counts.length; i++) {
      this.#counts[i] = gained.has(i) ? this.#counts[i]! + 1 : 0;
    }
  }
}
