import { createRequire } from "node:module";
import type * as Tokenizers from "@huggingface/tokenizers";

const require = createRequire(import.meta.url);

/** The tokenizer that runs a `tokenizer.json`; the first call loads its package. */
export function createEngine(
  ...[tokenizer, config]: ConstructorParameters<typeof Tokenizers.Tokenizer>
): Tokenizers.Tokenizer {
  const { Tokenizer } = require("@huggingface/tokenizers") as typeof Tokenizers;
  return new Tokenizer(tokenizer, config);
}
