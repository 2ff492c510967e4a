import { tokenizers } from "#platform/packages";
import type * as Tokenizers from "@huggingface/tokenizers";

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

/** The tokenizer that runs a `tokenizer.json`; the first call loads its package. */
export function createEngine(
  ...[tokenizer, config]: ConstructorParameters<typeof Tokenizers.Tokenizer>
): Tokenizers.Tokenizer {
  const { Tokenizer } = tokenizers();
  return new Tokenizer(tokenizer, config);
}
