// SentencePiece's BPE (Gemma): text is cut into characters, ▁ in place of each space, and the two adjacent pieces
// whose piece has the highest score become one. What is no piece is written in bytes.
import type { PreTokenizer } from "./pre-tokenizers.js";

/** No patterns: nothing is cut before pieces merge. A prompt begins with the start token. */
export const spaces: PreTokenizer = { patterns: [], addsStart: true };

// The steps of such a tokenizer.json.
export const spacesAsLines = { type: "Replace", pattern: { String: " " }, content: "\u2581" };
export const atSpaces = {
  type: "Split",
  pattern: { String: " " },
  behavior: "MergedWithPrevious",
  invert: false,
};
export const linesAsSpaces = {
  type: "Sequence",
  decoders: [
    { type: "Replace", pattern: { String: "\u2581" }, content: " " },
    { type: "ByteFallback" },
    { type: "Fuse" },
  ],
};

/** A piece longer than this has no merges looked for; Gemma's longest has 48 characters. */
const longest = 512;

/** All pairs of pieces that make another, those of the highest score first, as transformers converts them. */
export function mergesOf(
  tokens: readonly string[],
  scores: readonly number[],
  isPiece: (id: number) => boolean,
): (readonly [string, string])[] {
  const ids = new Map(tokens.flatMap((token, id) => (isPiece(id) ? [[token, id] as const] : [])));
  const order = [...ids.values()].sort((a, b) => scores[b]! - scores[a]! || a - b);
  return order.flatMap((id) => {
    const piece = tokens[id]!;
    if (piece.length > longest) return [];
    const found: (readonly [left: number, right: number])[] = [];
    for (let at = 1; at < piece.length; at++) {
      const unit = piece.charCodeAt(at);
      if (unit >= 0xdc00 && unit <= 0xdfff) continue; // within a character of two units
      const left = ids.get(piece.slice(0, at));
      const right = ids.get(piece.slice(at));
      if (left !== undefined && right !== undefined) found.push([left, right]);
    }
    found.sort(([a, b], [c, d]) => a - c || b - d);
    return found.map(([left, right]) => [tokens[left]!, tokens[right]!] as const);
  });
}

/** Scores by which SentencePiece merges as these pairs do: the earlier a piece is made, the higher. */
export function scoresOf(
  tokens: readonly string[],
  merges: readonly (readonly [string, string])[],
): number[] {
  const first = new Map<string, number>();
  for (const [i, [left, right]] of merges.entries()) {
    if (!first.has(left + right)) first.set(left + right, i);
  }
  // Single characters never come of a merge: their scores decide nothing.
  return tokens.map((token) => -(first.get(token) ?? merges.length));
}

const alike = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);

/** Whether a tokenizer.json is of this kind. */
export function isSentencePiece(tokenizer: Readonly<Record<string, unknown>>): boolean {
  const model = tokenizer["model"] as { type?: unknown; byte_fallback?: unknown } | undefined;
  const { type, pattern, content } = (tokenizer["normalizer"] ?? {}) as Partial<
    typeof spacesAsLines
  >;
  const pre = tokenizer["pre_tokenizer"] as Partial<typeof atSpaces> | null | undefined;
  return (
    model?.type === "BPE" &&
    model.byte_fallback === true &&
    alike([type, pattern, content], Object.values(spacesAsLines)) &&
    (!pre || (pre.type === atSpaces.type && alike(pre.pattern, atSpaces.pattern)))
  );
}
