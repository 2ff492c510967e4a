import type { ChatMessage, Tokenizer } from "../../src/model/tokenizer/tokenizer.js";

/** A tokenizer for tests: 256 bytes, then pieces of text, then the end token. */
export class ByteTokenizer implements Tokenizer {
  readonly vocabSize: number;
  readonly eosId: number;
  readonly eosIds: readonly number[];
  readonly padId: number;
  readonly #pieces: readonly string[];

  constructor(pieces: readonly string[] = []) {
    this.#pieces = pieces;
    this.eosId = 256 + pieces.length;
    this.eosIds = [this.eosId];
    this.padId = this.eosId;
    this.vocabSize = this.eosId + 1;
  }

  encode(text: string): number[] {
    const ids: number[] = [];
    for (let at = 0; at < text.length;) {
      const piece = this.#pieces.findIndex((p) => text.startsWith(p, at));
      const length =
        piece >= 0 ? this.#pieces[piece]!.length : text.codePointAt(at)! > 0xffff ? 2 : 1;
      if (piece >= 0) ids.push(256 + piece);
      else ids.push(...Buffer.from(text.slice(at, at + length)));
      at += length;
    }
    return ids;
  }

  decode(ids: ArrayLike<number>, options: { skipSpecial?: boolean } = {}): string {
    const bytes: number[] = [];
    for (const id of Array.from(ids)) {
      if (id < 256) bytes.push(id);
      else if (id < this.eosId) bytes.push(...Buffer.from(this.#pieces[id - 256]!));
      else if (!options.skipSpecial) bytes.push(...Buffer.from("<eos>"));
    }
    return Buffer.from(bytes).toString("utf8");
  }

  chat(messages: readonly ChatMessage[]): string {
    return messages.map((m) => `${m.role}: ${m.content}\n`).join("");
  }
}
