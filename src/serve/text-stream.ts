import type { Tokenizer } from "../model/tokenizer/tokenizer.js";

export interface TextStreamOptions {
  /** Where the text ends; what could be the beginning of one is held back. */
  stops: readonly string[];
  /** Leave the stop string in. */
  includeStop: boolean;
  /** Leave out what special tokens say. */
  skipSpecial: boolean;
}

/**
 * Tokens to text as they come. A character may be spread over several tokens and a stop string too, so
 * text is given out only when nothing that follows can change it.
 */
export class TextStream {
  readonly #tokenizer: Tokenizer;
  readonly #options: TextStreamOptions;
  readonly #tokens: number[] = [];
  /** Tokens before this one are settled; those from here are decoded again with each new one. */
  #settled = 0;
  #read = 0;
  #text = "";
  #given = 0;

  constructor(tokenizer: Tokenizer, options: TextStreamOptions) {
    this.#tokenizer = tokenizer;
    this.#options = options;
  }

  /** Characters known so far; a token begins where this stood before it was pushed. */
  get length(): number {
    return this.#text.length;
  }

  /** Characters given out so far. */
  get given(): number {
    return this.#given;
  }

  /** Takes a token and gives the text that is now certain. */
  push(token: number): string {
    this.#tokens.push(token);
    const before = this.#decode(this.#settled, this.#read);
    const after = this.#decode(this.#settled, this.#tokens.length);
    if (after.length > before.length && !after.endsWith("\uFFFD")) {
      this.#text += after.slice(before.length);
      this.#settled = this.#read;
      this.#read = this.#tokens.length;
    }
    return this.#give(this.#certain());
  }

  /** Gives the rest, up to the stop string that ended it, if one did. */
  end(stop?: string): string {
    const before = this.#decode(this.#settled, this.#read);
    this.#text += this.#decode(this.#settled, this.#tokens.length).slice(before.length);
    let end = this.#text.length;
    const at = stop === undefined ? -1 : this.#text.indexOf(stop);
    if (at >= 0) end = this.#options.includeStop ? at + stop!.length : at;
    return this.#give(Math.max(end, this.#given));
  }

  #decode(from: number, to: number): string {
    return this.#tokenizer.decode(this.#tokens.slice(from, to), {
      skipSpecial: this.#options.skipSpecial,
    });
  }

  #give(end: number): string {
    const text = this.#text.slice(this.#given, end);
    this.#given = Math.max(this.#given, end);
    return text;
  }

  /** How much of the text no stop string can take back. */
  #certain(): number {
    const text = this.#text;
    let certain = text.length;
    for (const stop of this.#options.stops) {
      const from = Math.max(0, this.#given - stop.length);
      const whole = text.indexOf(stop, from);
      if (whole >= 0) certain = Math.min(certain, whole);
      for (let n = Math.min(stop.length - 1, text.length - this.#given); n > 0; n--) {
        if (!text.endsWith(stop.slice(0, n))) continue;
        certain = Math.min(certain, text.length - n);
        break;
      }
    }
    return Math.max(certain, this.#given);
  }
}
