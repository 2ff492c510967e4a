import type { Tokenizer } from "../../model/tokenizer/tokenizer.js";
import { type Expression, type Grammar, NONE, SPECIAL } from "./grammar.js";

/** A tokenizer's tokens by their bytes: what begins alike is walked once. */
export class TokenTree {
  readonly words: number;
  readonly eosId: number;
  readonly #bytes: (Uint8Array | undefined)[];
  /** Places in order: the byte that leads to each, how deep it is, and the place behind all below it. */
  readonly #byte: Uint8Array;
  readonly #depth: Uint16Array;
  readonly #behind: Int32Array;
  /** The tokens that end at each place: `#ids[#first[i]]` to `#ids[#first[i + 1]]`. */
  readonly #first: Int32Array;
  readonly #ids: Int32Array;
  readonly #special: readonly number[];
  readonly #deepest: number;

  constructor(tokenizer: Tokenizer) {
    const { vocabSize, eosId } = tokenizer;
    this.words = Math.ceil(vocabSize / 32);
    this.eosId = eosId;
    this.#bytes = Array.from({ length: vocabSize }, (_, id) => bytesOf(tokenizer, id));
    const named = this.#bytes.flatMap((bytes, id) =>
      bytes && bytes.length > 0 && bytes.length < 65_535 ? [id] : [],
    );
    named.sort((a, b) => compare(this.#bytes[a]!, this.#bytes[b]!));
    this.#special = this.#bytes.flatMap((bytes, id) =>
      bytes === undefined && !tokenizer.eosIds.includes(id) ? [id] : [],
    );
    const [byte, depth, first, ids]: [number[], number[], number[], number[]] = [[], [], [], []];
    let before: Uint8Array = new Uint8Array(0);
    for (const id of named) {
      const own = this.#bytes[id]!;
      let same = 0;
      while (same < before.length && before[same] === own[same]) same++;
      for (let at = same; at < own.length; at++) {
        byte.push(own[at]!);
        depth.push(at);
        first.push(ids.length);
      }
      ids.push(id);
      before = own;
    }
    this.#byte = Uint8Array.from(byte);
    this.#depth = Uint16Array.from(depth);
    this.#ids = Int32Array.from(ids);
    this.#first = Int32Array.from([...first, ids.length]);
    this.#behind = new Int32Array(byte.length);
    const last: number[] = [];
    for (let i = byte.length - 1; i >= 0; i--) {
      const at = depth[i]!;
      // The next place that is no deeper.
      let next = byte.length;
      for (let d = 0; d <= at; d++) next = Math.min(next, last[d] ?? byte.length);
      this.#behind[i] = next;
      last[at] = i;
      last.length = at + 1;
    }
    this.#deepest = depth.reduce((most, d) => Math.max(most, d + 1), 0);
  }

  /** The state behind a token. */
  after(grammar: Grammar, at: Expression, id: number): Expression {
    const bytes = this.#bytes[id];
    if (bytes === undefined) return grammar.next(at, SPECIAL);
    let state = at;
    for (const byte of bytes) state = grammar.next(state, byte);
    return state;
  }

  /** The tokens that may come in a state; where a text may end, the end token too. */
  mask(grammar: Grammar, start: Expression): Uint32Array {
    const mask = new Uint32Array(this.words);
    const allow = (id: number) => (mask[id >>> 5]! |= 1 << (id & 31));
    const states = new Int32Array(this.#deepest + 1);
    states[0] = start;
    const count = this.#byte.length;
    for (let i = 0; i < count;) {
      const at = this.#depth[i]!;
      const state = grammar.next(states[at]!, this.#byte[i]!);
      if (state === NONE) {
        i = this.#behind[i]!;
        continue;
      }
      states[at + 1] = state;
      const until = this.#first[i + 1]!;
      for (let n = this.#first[i]!; n < until; n++) allow(this.#ids[n]!);
      i++;
    }
    if (grammar.next(start, SPECIAL) !== NONE) for (const id of this.#special) allow(id);
    if (grammar.mayEnd(start)) allow(this.eosId);
    return mask;
  }
}

function bytesOf(tokenizer: Tokenizer, id: number): Uint8Array | undefined {
  if (tokenizer.eosIds.includes(id)) return undefined;
  if (tokenizer.bytesOf) return tokenizer.bytesOf(id);
  const text = tokenizer.decode([id], { skipSpecial: true });
  // A part of a character has no text of its own.
  if (text.includes("\uFFFD")) return new Uint8Array(0);
  return text === "" ? undefined : new TextEncoder().encode(text);
}

function compare(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) if (a[i] !== b[i]) return a[i]! - b[i]!;
  return a.length - b.length;
}
