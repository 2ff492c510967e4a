import type { Tokenizer } from "../../model/tokenizer/tokenizer.js";

/** A token with what was said about it. */
export interface TokenReport {
  id: number;
  /** Absent for the first token of an echoed prompt, which nothing predicts. */
  logprob?: number;
  top: { id: number; logprob: number }[];
  /** Where its text begins in the choice's text. */
  offset: number;
}

interface Naming {
  tokenizer: Tokenizer;
  /** Write `token_id:17` instead of the text, which several tokens may share. */
  asIds: boolean;
}

const nameOf = (id: number, { tokenizer, asIds }: Naming) =>
  asIds ? `token_id:${id}` : tokenizer.decode([id]);

/** The log-probs of `/v1/completions`. */
export function completionLogprobs(tokens: readonly TokenReport[], top: number, naming: Naming) {
  return {
    tokens: tokens.map(({ id }) => nameOf(id, naming)),
    token_logprobs: tokens.map(({ logprob }) => finite(logprob) ?? null),
    top_logprobs:
      top > 0
        ? tokens.map((token) =>
            token.logprob === undefined
              ? null
              : // Tokens of the same text share an entry; the most likely is the one that counts.
                Object.fromEntries(
                  token.top
                    .slice(0, top)
                    .reverse()
                    .map(({ id, logprob }) => [nameOf(id, naming), finite(logprob)]),
                ),
          )
        : null,
    text_offset: tokens.map(({ offset }) => offset),
  };
}

/** The log-probs of `/v1/chat/completions`. */
export function chatLogprobs(tokens: readonly TokenReport[], top: number, naming: Naming) {
  const entry = (id: number, logprob: number | undefined) => {
    const text = naming.tokenizer.decode([id]);
    return {
      token: nameOf(id, naming),
      logprob: finite(logprob),
      // A piece of a character has no text of its own, so its bytes are not known here.
      bytes: text.includes("\uFFFD") ? null : [...Buffer.from(text)],
    };
  };
  return {
    content: tokens.map(({ id, logprob, top: alternatives }) => ({
      ...entry(id, logprob),
      top_logprobs: alternatives.slice(0, top).map((a) => entry(a.id, a.logprob)),
    })),
    refusal: null,
  };
}

/** JSON has no infinity; OpenAI writes -9999 for what is impossible. */
function finite(logprob: number | undefined): number | undefined {
  return logprob === -Infinity ? -9999 : logprob;
}
