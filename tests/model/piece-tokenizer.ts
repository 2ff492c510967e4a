import { HfTokenizer } from "../../src/model/tokenizer/hf-tokenizer.js";
import {
  atSpaces,
  linesAsSpaces,
  mergesOf,
  spacesAsLines,
} from "../../src/model/tokenizer/gguf/sentence-piece.js";

/** A small tokenizer of the kind that Gemma has: SentencePiece's pieces, and bytes for what is no piece. */
export function pieceTokenizer(words: readonly string[], chatTemplate?: string): HfTokenizer {
  const specials = ["<pad>", "<eos>", "<bos>", "<unk>", "<start_of_turn>", "<end_of_turn>"];
  const bytes = Array.from(
    { length: 256 },
    (_, byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, "0")}>`,
  );
  // Every beginning of a word is a piece, so that there are several ways to merge.
  const pieces = words.flatMap((word) =>
    Array.from(`\u2581${word}`, (_, i) => `\u2581${word}`.slice(0, i + 1)).concat(
      Array.from(word, (_, i) => word.slice(i)),
      Array.from(word),
    ),
  );
  const tokens = [...new Set([...specials, ...bytes, "\n", "\u2581\u2581", ...pieces])];
  const scores = tokens.map((token, id) => Array.from(token).length - id / 1000);
  const isPiece = (id: number) => id >= specials.length + bytes.length;
  const special = (content: string, id: number) => ({
    ...{ id, content, special: true, normalized: false },
    ...{ single_word: false, lstrip: false, rstrip: false },
  });
  const start = { SpecialToken: { id: "<bos>", type_id: 0 } };
  const own = { Sequence: { id: "A", type_id: 0 } };
  return new HfTokenizer({
    tokenizer: {
      version: "1.0",
      added_tokens: specials.map(special),
      normalizer: spacesAsLines,
      pre_tokenizer: atSpaces,
      post_processor: {
        type: "TemplateProcessing",
        single: [start, own],
        pair: [start, own, { Sequence: { id: "B", type_id: 1 } }],
        special_tokens: { "<bos>": { id: "<bos>", ids: [2], tokens: ["<bos>"] } },
      },
      decoder: linesAsSpaces,
      model: {
        ...{ type: "BPE", dropout: null, unk_token: "<unk>", fuse_unk: true, byte_fallback: true },
        ...{ continuing_subword_prefix: null, end_of_word_suffix: null, ignore_merges: false },
        vocab: Object.fromEntries(tokens.map((token, id) => [token, id])),
        merges: mergesOf(tokens, scores, isPiece),
      },
    },
    config: {
      ...{ bos_token: "<bos>", eos_token: "<eos>", pad_token: "<pad>", unk_token: "<unk>" },
      ...{ add_bos_token: true, clean_up_tokenization_spaces: false },
    },
    ...(chatTemplate !== undefined && { chatTemplate }),
    eosIds: [1, 5],
  });
}
