import { modelTokens, type ProfiledTree, type TokenKind, treesOf } from "./model-tokens.js";
import { completed, type EntropyStatisticOptions } from "./options.js";
import { topTokens } from "./top-tokens.js";

const kinds: readonly TokenKind[] = ["blank", "punctuation", "digits", "words", "tags"];

/** What the most uncertain tokens are made of, beside all tokens; undefined where texts are not known. */
export interface EntropyContent {
  top: Record<TokenKind, number> | undefined;
  all: Record<TokenKind, number> | undefined;
  /** How many of the most uncertain tokens there are. */
  tokens: number;
}

/**
 * What kind of tokens the policy is least sure of: shares of blanks, punctuation, digits, words and tags
 * among the most uncertain tokens, and among all.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { rollout } from "arpo-lab/rollout";
 * import { entropyContent } from "arpo-lab/experimental/entropy";
 * import { randomTextPolicy } from "arpo-lab/experimental/testing";
 *
 * const tree = await rollout(randomTextPolicy(), { prompt: "a" }, { n: 4 });
 * const { top } = entropyContent(tree, { share: 1 });
 * assert.ok(Math.abs(Object.values(top!).reduce((a, b) => a + b, 0) - 1) < 1e-9);
 * ```
 */
export function entropyContent(
  trees: ProfiledTree | Iterable<ProfiledTree>,
  options: EntropyStatisticOptions = {},
): EntropyContent {
  const action = "sort tokens by kind";
  const settings = completed(action, options);
  const found = treesOf(action, trees).map((tree) =>
    topTokens(modelTokens(tree, settings), settings),
  );
  const top = found.flatMap((tree) => tree.top);
  return { top: shares(top), all: shares(found.flatMap((tree) => tree.known)), tokens: top.length };
}

function shares(tokens: readonly { kind?: TokenKind }[]): Record<TokenKind, number> | undefined {
  if (tokens.length === 0 || tokens.some(({ kind }) => kind === undefined)) return undefined;
  return Object.fromEntries(
    kinds.map((one) => [one, tokens.filter(({ kind }) => kind === one).length / tokens.length]),
  ) as Record<TokenKind, number>;
}
