import type { ChatMessage, ChatOptions, Tokenizer } from "../../model/tokenizer/tokenizer.js";
import { messageText } from "../row/message-text.js";

/** A word with the space before it, a run of other signs, or white space. */
const word = / ?[\p{L}\p{M}\p{N}_]+| ?[^\s\p{L}\p{M}\p{N}_]+|\s+/gu;

/**
 * Cuts text into words where no model's tokenizer is at hand: nothing to load, every text comes back as
 * it was, no text is a special token. Its numbers are those of the words in the order they came in, and
 * mean nothing to any model.
 */
export class WordTokenizer implements Tokenizer {
  readonly #words: string[] = [""];
  readonly #ids = new Map<string, number>([["", 0]]);
  readonly eosId = 0;
  readonly eosIds: readonly number[] = [];
  readonly padId = 0;

  get vocabSize(): number {
    return this.#words.length;
  }

  /** The ids of words that are given one by one. */
  idsOf(words: readonly string[]): number[] {
    return words.map((text) => {
      const known = this.#ids.get(text);
      if (known !== undefined) return known;
      const id = this.#words.push(text) - 1;
      this.#ids.set(text, id);
      return id;
    });
  }

  encode(text: string): number[] {
    return this.idsOf(text.match(word) ?? []);
  }

  decode(ids: ArrayLike<number>): string {
    return Array.from(ids, (id) => this.#words[id] ?? "").join("");
  }

  chat(messages: readonly ChatMessage[], options: ChatOptions = {}): string {
    const told = messages.map((message) => `${message.role}:\n${messageText(message)}`);
    return [...told, ...(options.addGenerationPrompt ? ["assistant:\n"] : [])].join("\n\n");
  }
}
