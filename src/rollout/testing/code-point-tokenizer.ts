import type { ChatMessage, Tokenizer } from "../../model/tokenizer/tokenizer.js";

/**
 * Every character is a token: its code point. The end token is U+0001, the padding U+0000.
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

  get eosIds(): number[] {
    return [this.eosId];
  }

  encode(text: string): number[] {
    return Array.from(text, (c) => c.codePointAt(0)!);
  }

  decode(ids: ArrayLike<number>, options: { skipSpecial?: boolean } = {}): string {
    const special = [this.eosId, this.padId];
    const kept = Array.from(ids).filter((id) => !options.skipSpecial || !special.includes(id));
    return kept.map((id) => String.fromCodePoint(id)).join("");
  }

  chat(messages: readonly ChatMessage[], { addGenerationPrompt = false } = {}): string {
    const text = messages.map(({ role, content }) => `${role}: ${content}\n`).join("");
    return addGenerationPrompt ? `${text}assistant: ` : text;
  }
}
