/**
 * The entropy each trajectory started with: the first one recorded for its number.
 *
 * A branch is a new trajectory, so its baseline is the entropy of its own first segment. The reference never
 * clears this table, so from the second batch on every trajectory is compared with what some unrelated
 * trajectory of the first batch had; sharing one object between batches reproduces that.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { EntropyBaselines } from "arpo-lab/experimental/entropy";
 *
 * const baselines = new EntropyBaselines();
 * assert.equal(baselines.of(0, 1.5), 1.5);
 * assert.equal(baselines.of(0, 2), 1.5);
 * ```
 */
export class EntropyBaselines {
  readonly #initial = new Map<number, number>();

  /** The trajectory's baseline; the entropy given becomes it if the trajectory has none yet. */
  of(trajectory: number, entropy: number): number {
    const known = this.#initial.get(trajectory);
    if (known !== undefined) return known;
    this.#initial.set(trajectory, entropy);
    return entropy;
  }

  /** Every trajectory's baseline by its number. */
  entries(): IterableIterator<[number, number]> {
    return this.#initial.entries();
  }

  clear(): void {
    this.#initial.clear();
  }
}
