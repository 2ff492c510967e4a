/** Lists of allowed ids as bit masks; equal lists share a mask. */
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

/**
 * What each token was sampled from, where top-k, top-p, min-p or a constraint cut the vocabulary: the form in which vLLM says it.
 */
export interface Support {
  /** The ids of token t are `ids[offsets[t]]` to `ids[offsets[t + 1]]`; none: the whole vocabulary. */
  offsets: Int32Array;
  /** Rising within a token; the sampled one is among them. */
  ids: Int32Array;
  /** ln p of each token over its support, at the temperature; NaN where nobody said, 0 where it is the whole vocabulary. */
  logprobs: Float32Array;
  /** 1 where a constraint allowed no other token: no choice of the policy, and not trained on. Absent: nowhere. */
  given?: Uint8Array;
}

/** The support of one token. */
export interface TokenSupport {
  /** Rising; none: the whole vocabulary. */
  ids: ArrayLike<number>;
  logprob: number;
  given: boolean;
}

/** Supports as they are made, token by token. */
export class SupportList {
  readonly #offsets: number[] = [0];
  readonly #ids: number[] = [];
  readonly #logprobs: number[] = [];
  readonly #given: number[] = [];

  /** A token; without a support it is of the whole vocabulary. */
  push({ ids, logprob, given }: TokenSupport = { ids: [], logprob: 0, given: false }): void {
    this.#given.push(given ? 1 : 0);
    for (let i = 0; i < ids.length; i++) this.#ids.push(ids[i]!);
    const some = this.#ids.length > this.#offsets.at(-1)!;
    this.#logprobs.push(some ? logprob : 0);
    this.#offsets.push(this.#ids.length);
  }

  /** Tokens `from` to `to` of a support; without one, as many of the whole vocabulary. */
  add(support: Support | undefined, from: number, to: number): void {
    for (let t = from; t < to; t++) this.push(support && tokenSupport(support, t));
  }

  /** What was pushed; undefined where every token is of the whole vocabulary. */
  value(): Support | undefined {
    if (this.#ids.length === 0) return undefined;
    return {
      offsets: Int32Array.from(this.#offsets),
      ids: Int32Array.from(this.#ids),
      logprobs: Float32Array.from(this.#logprobs),
      ...(this.#given.includes(1) ? { given: Uint8Array.from(this.#given) } : {}),
    };
  }
}

/** The ids that a token was sampled from; none: the whole vocabulary. */
export const supportAt = ({ offsets, ids }: Support, t: number): Int32Array =>
  ids.subarray(offsets[t], offsets[t + 1]);

/** What is said of one token. */
export const tokenSupport = (support: Support, t: number): TokenSupport => ({
  ...{ ids: supportAt(support, t), logprob: support.logprobs[t]! },
  given: support.given?.[t] === 1,
});

/** Tokens `from` to `to` of something that may have a support, as a property to spread. */
export function cutSupport(
  { support }: { support?: Support | undefined },
  from: number,
  to: number,
): { support?: Support } {
  if (!support) return {};
  const list = new SupportList();
  list.add(support, from, to);
  const cut = list.value();
  return cut ? { support: cut } : {};
}

/** How many ids a bit mask allows. */
export function countIds(words: Uint32Array): number {
  let count = 0;
  for (let word of words) {
    word -= (word >>> 1) & 0x55555555;
    word = (word & 0x33333333) + ((word >>> 2) & 0x33333333);
    count += Math.imul((word + (word >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
  }
  return count;
}

/** The ids of a bit mask among so many, rising. */
export function idsOf(words: Uint32Array, size: number): number[] {
  const ids: number[] = [];
  for (let at = 0; at < words.length; at++) {
    // The lowest bit that is set, one after another.
    for (let word = words[at]!; word !== 0; word &= word - 1) {
      const id = at * 32 + (31 - Math.clz32(word & -word));
      if (id < size) ids.push(id);
    }
  }
  return ids;
}
