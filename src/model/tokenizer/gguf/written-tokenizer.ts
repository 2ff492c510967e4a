import type { ModelConfig } from "../../config.js";
import type { WrittenValue } from "../../files/gguf/write-gguf.js";
import { callsByTags, templateOf, type TokenizerFiles } from "../tokenizer-files.js";
import {
  byte,
  control,
  normal,
  preTokenizers,
  unknown,
  unused,
  userDefined,
} from "./pre-tokenizers.js";
import { isSentencePiece, scoresOf } from "./sentence-piece.js";

type Json = Record<string, unknown>;

/** Patterns that cut alike, written in one way. */
const plainly = (pattern: string) =>
  pattern.replace(
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)",
    "(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])",
  );

/** The pattern of one step of a pre-tokenizer: none for a step that cuts nothing, undefined for another. */
function patternsOf(step: Json): string[] | undefined {
  const { type, pattern, behavior, invert } = step;
  if (type === "ByteLevel" && step.add_prefix_space === false) {
    return step.use_regex === false ? [] : preTokenizers.get("gpt-2")!.patterns.slice();
  }
  if (type === "Digits") return [step.individual_digits === true ? "\\p{N}" : "\\p{N}+"];
  const regex = (pattern as Json | undefined)?.Regex;
  if (type === "Split" && behavior === "Isolated" && invert !== true && typeof regex === "string") {
    return [plainly(regex)];
  }
  return undefined;
}

/** The name llama.cpp has for the way a `tokenizer.json` cuts text; undefined where it has none. */
function namePreTokenizer(tokenizer: Json): string | undefined {
  const { pre_tokenizer: given, model } = tokenizer as { pre_tokenizer?: Json; model?: Json };
  if (!given) return undefined;
  const steps = given.type === "Sequence" ? (given.pretokenizers as Json[]) : [given];
  const found = steps.map(patternsOf);
  if (found.includes(undefined)) return undefined;
  const patterns = JSON.stringify(found.flat());
  const wholeWords = model?.ignore_merges === true;
  for (const [name, way] of preTokenizers) {
    if (JSON.stringify(way.patterns) === patterns && (way.wholeWords ?? false) === wholeWords) {
      return name;
    }
  }
  return undefined;
}

interface Added {
  id: number;
  content: string;
  special?: boolean;
  lstrip?: boolean;
  rstrip?: boolean;
  single_word?: boolean;
}

const refuse = (rule: string, got: unknown): never => {
  throw new RangeError(`Cannot write GGUF: ${rule}, got ${JSON.stringify(got) ?? "none"}`);
};

/** The tokens by their numbers, and what each is; numbers without a token get one that no text gives. */
function vocabulary(
  tokenizer: Json,
  size: number,
  sentencePiece: boolean,
): { tokens: string[]; kinds: number[] } {
  const { vocab } = tokenizer.model as { vocab: Record<string, number> };
  const tokens = Array.from({ length: size }, (_, id) => `[PAD${id}]`);
  const kinds = tokens.map(() => unused);
  const put = (token: string, id: number, kind: number) => {
    if (!(id < size))
      refuse(`the model must have a row for every token (${size})`, `${token}: ${id}`);
    tokens[id] = token;
    kinds[id] = kind;
  };
  const kindOf = (token: string) =>
    !sentencePiece ? normal : /^<0x[0-9A-F]{2}>$/.test(token) ? byte : normal;
  for (const [token, id] of Object.entries(vocab)) put(token, id, kindOf(token));
  for (const token of (tokenizer.added_tokens ?? []) as Added[]) {
    for (const option of ["lstrip", "rstrip", "single_word"] as const) {
      if (token[option]) refuse(`${option} of ${token.content} must be false`, true);
    }
    const text = sentencePiece ? token.content.replaceAll("\u2581", " ") : token.content;
    put(token.special ? token.content : text, token.id, token.special ? control : userDefined);
  }
  return { tokens, kinds };
}

/** The name of the way text is cut: the one asked for, else the tokenizer's own. */
function wayOf(tokenizer: Json, asked: string | undefined): string {
  const known = [...preTokenizers.keys()].join(", ");
  if (asked !== undefined) {
    return preTokenizers.has(asked) ? asked : refuse(`pre must be one of ${known}`, asked);
  }
  const steps = tokenizer.pre_tokenizer;
  return (
    namePreTokenizer(tokenizer) ??
    refuse(
      `the tokenizer must cut text in a way llama.cpp has a name for (${known}; pre writes one all the same, and texts may then be cut otherwise there)`,
      steps,
    )
  );
}

const startsPrompts = ({ tokenizer, config }: TokenizerFiles): boolean =>
  config.add_bos_token === true ||
  JSON.stringify(tokenizer.post_processor ?? null).includes('"TemplateProcessing"');

/** What a GGUF file says about a tokenizer of byte-level BPE or SentencePiece's. */
export function writtenTokenizer(
  files: TokenizerFiles,
  eosIds: readonly number[],
  config: ModelConfig,
  pre?: string,
): Map<string, WrittenValue> {
  const { tokenizer } = files;
  const model = tokenizer.model as Json | undefined;
  const sentencePiece = isSentencePiece(tokenizer);
  if (!sentencePiece && (model?.type !== "BPE" || model.byte_fallback === true)) {
    refuse("the tokenizer must be byte-level BPE, or SentencePiece's as Gemma has it", model?.type);
  }
  const normalizer = tokenizer.normalizer as Json | null | undefined;
  if (!sentencePiece && normalizer && normalizer.type !== "NFC") {
    refuse("the tokenizer must not change text before it cuts it", normalizer.type);
  }
  if (eosIds.length > 3) refuse("there must be at most three end tokens", eosIds);
  const { tokens, kinds } = vocabulary(tokenizer, config.vocabSize, sentencePiece);
  const merges = model!.merges as (string | [string, string])[];
  const unknownToken = model!.unk_token;
  if (sentencePiece && typeof unknownToken === "string") {
    kinds[tokens.indexOf(unknownToken)] = unknown;
  }
  const pairs = merges.map((merge) =>
    typeof merge === "string" ? (merge.split(" ") as [string, string]) : merge,
  );
  const written = new Map<string, WrittenValue>([
    ["tokenizer.ggml.model", { type: "string", value: sentencePiece ? "llama" : "gpt2" }],
    [
      "tokenizer.ggml.pre",
      { type: "string", value: sentencePiece ? "default" : wayOf(tokenizer, pre) },
    ],
    ["tokenizer.ggml.tokens", { type: "strings", value: tokens }],
    ["tokenizer.ggml.token_type", { type: "int32s", value: kinds }],
    sentencePiece
      ? ["tokenizer.ggml.scores", { type: "float32s", value: scoresOf(tokens, pairs) }]
      : ["tokenizer.ggml.merges", { type: "strings", value: pairs.map((pair) => pair.join(" ")) }],
    ["tokenizer.ggml.add_bos_token", { type: "bool", value: startsPrompts(files) }],
    ["tokenizer.ggml.add_space_prefix", { type: "bool", value: false }],
  ]);
  const named = (key: string): number | undefined => {
    const value = files.config[key];
    const text = typeof value === "object" ? (value as Json | null)?.content : value;
    const id = typeof text === "string" ? tokens.indexOf(text) : -1;
    return id < 0 ? undefined : id;
  };
  const ids: Record<string, number | undefined> = {
    bos: named("bos_token") ?? config.bosId,
    eos: eosIds[0],
    eot: eosIds[1],
    eom: eosIds[2],
    unknown: named("unk_token") ?? (sentencePiece ? kinds.indexOf(unknown) : undefined),
    padding: named("pad_token") ?? config.padId,
  };
  for (const [key, value] of Object.entries(ids)) {
    if (value !== undefined)
      written.set(`tokenizer.ggml.${key}_token_id`, { type: "uint32", value });
  }
  const template = templateOf(files);
  if (template !== undefined) {
    written.set("tokenizer.chat_template", { type: "string", value: template });
  }
  if (callsByTags(files)) written.set("arpo_lab.tags", { type: "bool", value: true });
  return written;
}
