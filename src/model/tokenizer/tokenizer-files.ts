import { tokenizers } from "#platform/packages";
import { isRecord } from "../../../common/options/is-record.js";

type Json = Record<string, unknown>;

/** The contents of a tokenizer's files. */
export interface TokenizerFiles {
  /** `tokenizer.json`. */
  tokenizer: Json;
  /** `tokenizer_config.json`. */
  config: Json;
  /** `chat_template.jinja`; wins over a template in the config. */
  chatTemplate?: string;
  /** End tokens that `generation_config.json` or `config.json` names. */
  eosIds?: readonly number[];
}

/** tokenizer_config.json holds one template, or a list of named ones. */
function defaultTemplate(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (!Array.isArray(value)) return undefined;
  const named = value as { name: string; template: string }[];
  return (named.find(({ name }) => name === "default") ?? named[0])?.template;
}

/** The chat template of a tokenizer's files. */
export const templateOf = ({ chatTemplate, config }: TokenizerFiles): string | undefined =>
  chatTemplate ?? defaultTemplate(config.chat_template);

/** Whether the files say that their model was trained to call tools by tags. */
export const callsByTags = ({ config: { arpo_lab: own } }: TokenizerFiles): boolean =>
  isRecord(own) && own["tags"] === true;

/** What is used of `@huggingface/tokenizers`. Its own declarations do not compile in a project of module `nodenext`. */
export interface Engine {
  encode(text: string, options?: { add_special_tokens?: boolean }): { ids: number[] };
  decode(
    ids: number[],
    options?: { skip_special_tokens?: boolean; clean_up_tokenization_spaces?: boolean },
  ): string;
  get_vocab(): Map<string, number>;
  token_to_id(token: string): number | undefined;
  readonly pre_tokenizer: { pre_tokenize(text: string): string[] } | null;
}

/** The tokenizer that runs a `tokenizer.json`; the first call loads its package. */
export function createEngine(tokenizer: Json, config: Json): Engine {
  const { Tokenizer } = tokenizers();
  return new Tokenizer(tokenizer, config);
}
