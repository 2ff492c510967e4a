import type { TokenizerFiles } from "./tokenizer-files.js";

/** The letters by which byte-level tokenizers write bytes. */
function byteLetters(): Map<string, number> {
  const letters = new Map<string, number>();
  let next = 256;
  for (let byte = 0; byte < 256; byte++) {
    const isPlain =
      (byte > 32 && byte < 127) || (byte > 160 && byte < 173) || (byte > 173 && byte < 256);
    letters.set(String.fromCharCode(isPlain ? byte : next++), byte);
  }
  return letters;
}

const letters = byteLetters();

/** Tokens that stand beside the vocabulary as they are written, and whether they are special. */
export function addedTokens({ tokenizer }: TokenizerFiles): ReadonlyMap<string, boolean> {
  const { added_tokens: added } = tokenizer as { added_tokens?: unknown };
  const all = Array.isArray(added) ? (added as { content?: unknown; special?: unknown }[]) : [];
  return new Map(
    all.flatMap(({ content, special }) =>
      typeof content === "string" ? [[content, special === true]] : [],
    ),
  );
}

/**
 * The bytes of a piece of a vocabulary: of byte-level letters where its tokenizer has such, or else of text where a low
 * line stands for a space.
 */
export function pieceBytes(piece: string, byteLevel = true): Uint8Array {
  const found = byteLevel ? Array.from(piece, (letter) => letters.get(letter)) : [undefined];
  if (found.every((byte) => byte !== undefined)) return Uint8Array.from(found);
  const byte = /^<0x([0-9A-F]{2})>$/i.exec(piece);
  if (byte) return Uint8Array.of(parseInt(byte[1]!, 16));
  return new TextEncoder().encode(piece.replaceAll("\u2581", " "));
}
