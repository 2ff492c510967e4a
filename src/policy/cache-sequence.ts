import type { Decoder } from "../model/decoder/decoder.js";

/**
 * A span of a sequence's past in the decoder: the sequence's own, or the common stem of forked sequences.
 *
 * A fork of a sequence whose newest tokens are not in the cache yet must not feed them twice. So the sequence's
 * line becomes a stem with a goal, and the sequence and its fork each get a new line that starts from it
 * once it has been fed up to there.
 */
export class CacheSequence {
  readonly #decoder: Decoder;
  #parent: CacheSequence | undefined;
  #id: number | undefined;
  #fed = 0;
  #users = 1;
  /** Tokens this line is to hold when it is a stem. */
  #goal: readonly number[] | undefined;
  /** Tokens of the parent that are kept. */
  #keep = Infinity;

  constructor(decoder: Decoder, parent?: CacheSequence) {
    this.#decoder = decoder;
    this.#parent = parent;
  }

  /** Tokens that are, or once the parent is complete will be, in the cache. */
  get fed(): number {
    return this.#parent ? Math.min(this.#parent.goal.length, this.#keep) : this.#fed;
  }

  /** The tokens a stem is to be fed. */
  get goal(): readonly number[] {
    return this.#goal ?? [];
  }

  /** The decoder's sequence. Only for a line that `next` returned. */
  get id(): number {
    return (this.#id ??= this.#decoder.open());
  }

  /** The line that must be fed next so that this one can go on: itself, or an incomplete stem. */
  next(): CacheSequence {
    const parent = this.#parent;
    if (!parent) return this;
    const waiting = parent.next();
    if (waiting !== parent || parent.#fed < parent.goal.length) return waiting;
    this.#id = this.#decoder.fork(parent.id);
    this.#fed = parent.#fed;
    this.#parent = undefined;
    parent.release();
    if (this.#keep < this.#fed) this.#cut(this.#keep);
    return this;
  }

  /** Notes that the decoder was fed. */
  advance(count: number): void {
    this.#fed += count;
  }

  /** Lines for a sequence and its fork. `tokens` is all the sequence holds, fed or not. */
  split(tokens: readonly number[]): [CacheSequence, CacheSequence] {
    if (this.fed >= tokens.length - 1) return [this, this.#twin()];
    this.#goal = tokens.slice(0, -1);
    this.#users = 2;
    return [new CacheSequence(this.#decoder, this), new CacheSequence(this.#decoder, this)];
  }

  truncate(length: number): void {
    if (this.#parent) this.#keep = Math.min(this.#keep, length);
    else if (length < this.#fed) this.#cut(length);
  }

  /** Gives the line back; a stem goes with its last user. */
  release(): void {
    if (--this.#users > 0) return;
    this.#parent?.release();
    if (this.#id !== undefined) this.#decoder.close(this.#id);
  }

  #cut(length: number): void {
    this.#decoder.truncate(this.id, length);
    this.#fed = length;
  }

  #twin(): CacheSequence {
    const twin = new CacheSequence(this.#decoder, this.#parent);
    twin.#keep = this.#keep;
    if (this.#parent) this.#parent.#users++;
    else if (this.#id !== undefined) twin.#id = this.#decoder.fork(this.#id);
    twin.#fed = this.#fed;
    return twin;
  }
}
