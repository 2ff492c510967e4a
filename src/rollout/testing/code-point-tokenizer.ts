import { guardedChat, SpecialTexts } from "../../model/tokenizer/special-tokens.js";
import type {
  ChatMessage,
  ChatOptions,
  TextPart,
  Tokenizer,
} from "../../model/tokenizer/tokenizer.js";

/** Stands for a special character in plain text: it has no other token. */
const substitute = 0x1a;

/**
 * Every character is a token: its code point. The end token is U+0001, the padding U+0000; in plain text U+001A
 * stands for these.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { CodePointTokenizer } from "arpo-lab/experimental/testing";
 *
 * assert.deepEqual(new CodePointTokenizer().encode("é!"), [233, 33]);
 * ```
 */
export class CodePointTokenizer implements Tokenizer {
  readonly vocabSize: number;
  readonly eosId: number;
  readonly padId: number;

  constructor({ vocabSize = 256, eosId = 1, padId = 0 } = {}) {
    this.vocabSize = vocabSize;
    this.eosId = eosId;
    this.padId = padId;
  }

  get #special(): number[] {
    return [this.eosId, this.padId];
  }

  get eosIds(): number[] {
    return [this.eosId];
  }

  encode(text: string): number[] {
    return Array.from(text, (c) => c.codePointAt(0)!);
  }

  encodeParts(parts: readonly TextPart[]): number[] {
    return parts.flatMap(({ text, special }) =>
      this.encode(text).map((id) => (special || !this.#special.includes(id) ? id : substitute)),
    );
  }

  decode(ids: ArrayLike<number>, options: { skipSpecial?: boolean } = {}): string {
    const kept = Array.from(ids).filter(
      (id) => !options.skipSpecial || !this.#special.includes(id),
    );
    return kept.map((id) => String.fromCodePoint(id)).join("");
  }

  chat(messages: readonly ChatMessage[], { addGenerationPrompt = false } = {}): string {
    const text = messages.map(({ role, content }) => `${role}: ${content}\n`).join("");
    return addGenerationPrompt ? `${text}assistant: ` : text;
  }
  chatParts(messages: readonly ChatMessage[], options: ChatOptions = {}): TextPart[] {
    const special = new SpecialTexts(this.#special.map((id) => String.fromCodePoint(id)));
    const render = (chat: readonly ChatMessage[], how: ChatOptions) => this.chat(chat, how);
    return guardedChat({ special, source: "", render }, messages, options);
  }
}
