/** Lists of allowed ids as bit masks; equal lists share a mask, so that their sequences share a step. */
export class AllowedMasks {
  readonly #vocabSize: number;
  readonly #default: Uint32Array | undefined;
  /** Newest last. */
  readonly #recent: Uint32Array[] = [];

  /** `known`: how many ids, from 0, the tokenizer knows. */
  constructor(vocabSize: number, known: number) {
    this.#vocabSize = vocabSize;
    if (known < vocabSize) this.#default = this.#mask(Array.from({ length: known }, (_, id) => id));
  }

  /** The mask of a list; without a list, of the ids the tokenizer knows; undefined allows every id. */
  of(ids?: readonly number[]): Uint32Array | undefined {
    if (!ids) return this.#default;
    if (ids.length === 0) {
      throw new RangeError("Cannot generate: allowedIds must have at least one id, got none");
    }
    const mask = this.#mask(ids);
    const same = this.#recent.find((other) => other.every((word, i) => word === mask[i]));
    if (same) return same;
    this.#recent.push(mask);
    if (this.#recent.length > 8) this.#recent.shift();
    return mask;
  }

  #mask(ids: readonly number[]): Uint32Array {
    const mask = new Uint32Array(Math.ceil(this.#vocabSize / 32));
    for (const id of ids) {
      if (!Number.isInteger(id) || id < 0 || id >= this.#vocabSize) {
        throw new RangeError(
          `Cannot generate: allowedIds must be integers from 0 to ${this.#vocabSize - 1}, got ${id}`,
        );
      }
      mask[id >>> 5]! |= 1 << (id & 31);
    }
    return mask;
  }
}
