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
