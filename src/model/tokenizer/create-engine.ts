import { tokenizers } from "#platform/packages";
import type * as Tokenizers from "@huggingface/tokenizers";

/** The tokenizer that runs a `tokenizer.json`; the first call loads its package. */
export function createEngine(
  ...[tokenizer, config]: ConstructorParameters<typeof Tokenizers.Tokenizer>
): Tokenizers.Tokenizer {
  const { Tokenizer } = tokenizers();
  return new Tokenizer(tokenizer, config);
}
