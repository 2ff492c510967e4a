import { utf8Length } from "#platform/bytes";
import type { Tokenizer } from "../model/tokenizer/tokenizer.js";

/** What single tokens say, decoded once: shared by every sequence of a policy. */
export class TokenTexts {
  readonly #tokenizer: Tokenizer;
  readonly #texts: string[] = [];

  constructor(tokenizer: Tokenizer) {
    this.#tokenizer = tokenizer;
  }

  /** The text of one token; a piece of a character reads U+FFFD. */
  of(token: number): string {
    return (this.#texts[token] ??= this.#tokenizer.decode([token]));
  }

  /** The text of several tokens together. */
  all(tokens: readonly number[]): string {
    return this.#tokenizer.decode(tokens);
  }
}

/**
 * Watches one segment for stop strings, token by token.
 *
 * A stop string may be spread over several tokens, and a character over several tokens too. Decoding
 * the tail for every token would cost more than the model does, so it is decoded only when the newest
 * token could finish a match: when it has the last letter of a stop string, or a piece of a character.
 */
export class StopWatcher {
  readonly #texts: TokenTexts;
  readonly #stops: readonly string[];
  readonly #lastLetters: readonly string[];
  readonly #longest: number;
  readonly #tokens: number[];
  readonly #begun: number;

  /** A stop string may begin in tokens that stand before the segment; it may not end there. */
  constructor(texts: TokenTexts, stops: readonly string[], begun: readonly number[] = []) {
    if (stops.some((stop) => stop === "")) {
      throw new RangeError(`Cannot generate: a stop string must not be empty, got ""`);
    }
    this.#texts = texts;
    this.#stops = stops;
    this.#tokens = [...begun];
    this.#begun = begun.length;
    this.#lastLetters = stops.map((stop) => stop.slice(-1));
    this.#longest = Math.max(0, ...stops.map((stop) => utf8Length(stop)));
  }

  /** The stop string that the segment contains once this token is added. */
  push(token: number): string | undefined {
    if (this.#stops.length === 0) return undefined;
    this.#tokens.push(token);
    const text = this.#texts.of(token);
    const mayEnd =
      text === "" || text.includes("\uFFFD") || this.#lastLetters.some((c) => text.includes(c));
    if (!mayEnd) return undefined;
    const from = this.#from();
    const tail = this.#texts.all(this.#tokens.slice(from));
    const before = this.#lengthBefore(from);
    let earliest: string | undefined;
    let end = Infinity;
    for (const stop of this.#stops) {
      const at = tail.indexOf(stop, Math.max(0, before - stop.length + 1));
      if (at >= 0 && at + stop.length < end) {
        end = at + stop.length;
        earliest = stop;
      }
    }
    return earliest;
  }

  /** How much of the tail stands before the segment, without a character that it may begin and not end. */
  #lengthBefore(from: number): number {
    if (from >= this.#begun) return 0;
    return this.#texts.all(this.#tokens.slice(from, this.#begun)).replace(/\uFFFD+$/, "").length;
  }

  /** The first token that any match that ends in the newest one can reach back to. */
  #from(): number {
    let bytes = 0;
    let from = this.#tokens.length - 1;
    const newest = this.#tokens[from]!;
    // Three more tokens complete a character of which the first has only the last byte.
    const needed = this.#longest + 3 + utf8Length(this.#texts.of(newest));
    for (; from > 0 && bytes < needed; from--) {
      const text = this.#texts.of(this.#tokens[from]!);
      bytes += text.includes("\uFFFD") ? 1 : utf8Length(text);
    }
    return from;
  }
}
