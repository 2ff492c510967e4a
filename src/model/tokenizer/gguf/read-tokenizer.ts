import type { GgufFile } from "../../files/gguf/gguf-file.js";
import type { GgufValue } from "../../files/gguf/header.js";
import { endTokens } from "../../files/gguf/read-config.js";
import type { TokenizerFiles } from "../tokenizer-files.js";
import {
  control,
  normal,
  type PreTokenizer,
  preTokenizers,
  userDefined,
} from "./pre-tokenizers.js";
import { atSpaces, linesAsSpaces, mergesOf, spaces, spacesAsLines } from "./sentence-piece.js";

const byteLevel = { add_prefix_space: false, trim_offsets: false, use_regex: false };

/** Reads the tokenizer's keys, refusing what is not as it must be. */
function keys(file: GgufFile) {
  const refuse = (rule: string, got: unknown): never => {
    throw new RangeError(
      `Cannot load a tokenizer from ${file.path}: ${rule}, got ${JSON.stringify(got) ?? "none"}`,
    );
  };
  const value = (key: string): GgufValue | undefined => file.metadata.get(key);
  const list = <T>(key: string, is: (item: unknown) => item is T): T[] => {
    const found = value(key);
    if (!Array.isArray(found)) return refuse(`${key} must be a list`, typeof found);
    const wrong = found.find((item) => !is(item)) as unknown;
    if (wrong !== undefined) refuse(`${key} must hold values of one kind`, wrong);
    return found as T[];
  };
  return { refuse, value, list };
}

const isText = (item: unknown): item is string => typeof item === "string";
const isNumber = (item: unknown): item is number => typeof item === "number";

/** tokenizer.json's steps before merging: one for each pattern, then bytes as characters. */
const splitting = ({ patterns }: PreTokenizer) => ({
  type: "Sequence",
  pretokenizers: [
    ...patterns.map((pattern) => ({
      type: "Split",
      pattern: { Regex: pattern },
      behavior: "Isolated",
      invert: false,
    })),
    { type: "ByteLevel", ...byteLevel },
  ],
});

/** tokenizer.json's step after merging, where prompts begin with the start token. */
function starting(token: string, id: number) {
  const start = { SpecialToken: { id: token, type_id: 0 } };
  const own = (sequence: string, type: number) => ({ Sequence: { id: sequence, type_id: type } });
  return {
    type: "TemplateProcessing",
    single: [start, own("A", 0)],
    pair: [start, own("A", 0), own("B", 1)],
    special_tokens: { [token]: { id: token, ids: [id], tokens: [token] } },
  };
}

/**
 * The tokenizer that a GGUF file carries, as the files of a Hugging Face one. Texts give the tokens that
 * llama.cpp gives them.
 */
export function readGgufTokenizer(file: GgufFile): TokenizerFiles {
  const { refuse, value, list } = keys(file);
  const model = value("tokenizer.ggml.model");
  if (model !== "gpt2" && model !== "llama") {
    refuse(
      'tokenizer.ggml.model must be "gpt2" (byte-level BPE) or "llama" (SentencePiece)',
      model,
    );
  }
  const sentencePiece = model === "llama";
  if (sentencePiece && value("tokenizer.ggml.add_space_prefix") !== false) {
    refuse(
      "tokenizer.ggml.add_space_prefix must be false",
      value("tokenizer.ggml.add_space_prefix"),
    );
  }
  const named = value("tokenizer.ggml.pre") ?? "default";
  const way = sentencePiece ? spaces : preTokenizers.get(String(named));
  if (!way) {
    return refuse(
      `tokenizer.ggml.pre must be one of ${[...preTokenizers.keys()].join(", ")}`,
      named,
    );
  }
  const tokens = list("tokenizer.ggml.tokens", isText);
  const kinds = list("tokenizer.ggml.token_type", isNumber);
  if (kinds.length !== tokens.length) {
    refuse(`tokenizer.ggml.token_type must have ${tokens.length} values`, kinds.length);
  }
  const pairs = () =>
    list("tokenizer.ggml.merges", isText).map((merge) => {
      const space = merge.indexOf(" ", 1);
      if (space < 0) refuse("tokenizer.ggml.merges must be pairs", merge);
      return [merge.slice(0, space), merge.slice(space + 1)] as const;
    });
  const scores = sentencePiece ? list("tokenizer.ggml.scores", isNumber) : [];
  if (sentencePiece && scores.length !== tokens.length) {
    refuse(`tokenizer.ggml.scores must have ${tokens.length} values`, scores.length);
  }
  const isPiece = (id: number) => kinds[id] === normal || kinds[id] === userDefined;
  const special = (name: string): string | undefined => {
    const id = value(`tokenizer.ggml.${name}_token_id`);
    if (id === undefined) return undefined;
    const token = typeof id === "number" ? tokens[id] : undefined;
    return token ?? refuse(`${name}_token_id must be one of the ${tokens.length} tokens`, id);
  };
  const added = tokens.flatMap((content, id) =>
    kinds[id] === control || kinds[id] === userDefined
      ? [
          {
            ...{ id, content, single_word: false, lstrip: false, rstrip: false },
            normalized: false,
            special: kinds[id] === control,
          },
        ]
      : [],
  );
  const start = special("bos");
  const addsStart = value("tokenizer.ggml.add_bos_token") ?? way.addsStart ?? false;
  const template = value("tokenizer.chat_template");
  return {
    tokenizer: {
      version: "1.0",
      truncation: null,
      padding: null,
      added_tokens: added,
      normalizer: sentencePiece ? spacesAsLines : null,
      pre_tokenizer: sentencePiece ? atSpaces : splitting(way),
      post_processor:
        addsStart === true && start !== undefined
          ? starting(start, tokens.indexOf(start))
          : sentencePiece
            ? null
            : { type: "ByteLevel", ...byteLevel },
      decoder: sentencePiece ? linesAsSpaces : { type: "ByteLevel", ...byteLevel },
      model: {
        type: "BPE",
        ...{ dropout: null, unk_token: sentencePiece ? (special("unknown") ?? null) : null },
        ...{ fuse_unk: sentencePiece, byte_fallback: sentencePiece },
        ...{ continuing_subword_prefix: "", end_of_word_suffix: "" },
        ignore_merges: way.wholeWords ?? false,
        vocab: Object.fromEntries(tokens.map((token, id) => [token, id])),
        merges: sentencePiece ? mergesOf(tokens, scores, isPiece) : pairs(),
      },
    },
    config: {
      added_tokens_decoder: Object.fromEntries(added.map(({ id, ...token }) => [id, token])),
      add_bos_token: addsStart === true,
      bos_token: start ?? null,
      clean_up_tokenization_spaces: false,
      eos_token: special("eos") ?? null,
      pad_token: special("padding") ?? null,
      unk_token: special("unknown") ?? null,
      tokenizer_class: "PreTrainedTokenizerFast",
      ...(typeof template === "string" ? { chat_template: template } : {}),
      ...(value("arpo_lab.tags") === true ? { arpo_lab: { tags: true } } : {}),
    },
    eosIds: endTokens(file),
  };
}
