/** What a token is made of: part of a tag, white space, punctuation, a number or words. */
export type TokenKind = "blank" | "punctuation" | "digits" | "words" | "tags";

const tag = /<\/?[A-Za-z_][\w.-]*>/g;

/** The kind of each of some tokens in a row; a tag may be written in several of them. */
export function tokenKinds(pieces: readonly string[]): TokenKind[] {
  const text = pieces.join("");
  const tagged = new Uint8Array(text.length);
  for (const { index, 0: found } of text.matchAll(tag)) {
    tagged.fill(1, index, index + found.length);
  }
  let at = 0;
  return pieces.map((piece) => {
    const inTag = tagged.subarray(at, at + piece.length).includes(1);
    at += piece.length;
    return inTag ? "tags" : plainKind(piece);
  });
}

function plainKind(piece: string): TokenKind {
  if (piece.trim() === "") return "blank";
  if (/\p{L}/u.test(piece)) return "words";
  return /\p{N}/u.test(piece) ? "digits" : "punctuation";
}
