import * as exact from "../../base/exact/index.js";
import { checkArguments } from "../../../common/options/check-arguments.js";
import {
  anyNumber,
  checkOptions,
  type OptionRules,
} from "../../../common/options/check-options.js";
import { type TokenLossOptions, tokenLossRules } from "./loss-rules.js";
import { settingsOf } from "./base/definition.js";
import { unmaskedRow } from "./base/off-policy-mask.js";
import { lossOf } from "./registry.js";
import {
  type ClipRegion,
  type LossRow,
  type Shared,
  type TokenOutcome,
  weighed,
  weightsOf,
} from "./base/token-rule.js";

/** What the update did to one token. */
export interface TokenUpdate {
  /** The ratio that counted: the token's own, its turn's or its sequence's. */
  ratio: number;
  region: ClipRegion;
  /** Factor of the advantage times grad ln p in the loss: 0 where the loss dropped the token. */
  weight: number;
  /** What else stands before grad ln p, where a loss pulls back besides (DRO, KL-Cov). */
  hold?: number;
}

/** What decides what becomes of a token: the loss and what it is told. */
interface TokenUpdateOptions extends TokenLossOptions {
  /**
   * ln p of the token before the update. Default: -1; a loss that looks at probabilities needs it.
   */
  oldLogprob?: number;
}

const rulesUnder = (options: TokenUpdateOptions): OptionRules<TokenUpdateOptions> => ({
  ...tokenLossRules(options),
  oldLogprob: anyNumber,
});

const updateOf = ({ ratio, region, weight, hold }: TokenOutcome): TokenUpdate => ({
  ...{ ratio, region, weight },
  ...(hold === undefined ? {} : { hold }),
});

/**
 * What an update does to a token with a given ratio and advantage, by the rule of the loss. If the loss has
 * one ratio per turn or sequence, pass that one. Statistics of the batch are computed as if the token were the whole batch.
 *
 * @param ratio the token's probability now, divided by its probability when it was sampled
 * @param advantage the token's advantage
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { tokenUpdate } from "arpo-lab/learn";
 *
 * assert.deepEqual(tokenUpdate(1.5, 1, {}), { ratio: 1.5, region: "above", weight: 0 });
 * assert.equal(tokenUpdate(1.5, 1, { entropyBalancedClipping: true }).weight, 1.2);
 * assert.equal(tokenUpdate(1.5, 1, { loss: "ce_gppo" }).weight, 1.2);
 * assert.equal(tokenUpdate(1.5, 1, { loss: "gpg" }).weight, 1);
 * ```
 */
export function tokenUpdate(
  ratio: number,
  advantage: number,
  options: TokenUpdateOptions,
): TokenUpdate {
  checkArguments(
    "tell what an update does",
    { ratio, advantage },
    { ratio: "number", advantage: "number" },
  );
  checkOptions("tell what an update does", options, rulesUnder(options));
  const rule = lossOf(options);
  const { oldLogprob } = options;
  if (oldLogprob === undefined && rule.readsProbability) {
    throw new TypeError(
      `Cannot tell what an update does: oldLogprob must be given for ${rule.name}, got none`,
    );
  }
  const [old, logRatio] = [oldLogprob ?? -1, exact.log(ratio)];
  const row = {
    ...{ logprobs: [old + logRatio], oldLogprobs: [old] },
    ...{ advantages: [advantage], mask: [1] },
  };
  const settings = settingsOf(rule, options);
  const shared = rule.share?.([row], settings)(0, 0) ?? {};
  const seen = { advantage, logprob: old + logRatio, oldLogprob: old, logRatio, ratio };
  const own = "ratio" in shared ? { ...shared, ratio } : shared;
  return updateOf(rule.token(seen, own, settings));
}

/** What a loss sees of a token besides itself, and what it makes of it. */
interface ToldToken {
  shared: Shared;
  outcome: TokenOutcome;
}

/** What a loss does to the tokens of sequences, asked one by one; all sequences of the batch must be given. */
export function seenTokens(
  given: readonly LossRow[],
  options: TokenLossOptions,
): (row: number, token: number) => ToldToken {
  const rule = lossOf(options);
  const { offPolicyMask: threshold } = options;
  const rows = threshold === undefined ? given : given.map((row) => unmaskedRow(row, threshold));
  const settings = settingsOf(rule, options);
  const share = rule.share?.(rows, settings);
  const correction = weightsOf(rule, rows);
  return (r, t) => {
    const { logprobs, oldLogprobs, advantages } = rows[r]!;
    const [logprob, oldLogprob] = [logprobs[t]!, oldLogprobs[t]!];
    const logRatio = logprob - oldLogprob;
    const own = { logprob, oldLogprob, logRatio, ratio: exact.exp(logRatio) };
    const seen = { ...own, advantage: advantages[t]! };
    const shared = share?.(r, t) ?? {};
    return { shared, outcome: weighed(rule.token(seen, shared, settings), correction(r, t)) };
  };
}

/** The same, of a whole sequence; undefined where it is masked. */
export function tokenUpdates(
  rows: readonly LossRow[],
  row: number,
  options: TokenLossOptions,
): (TokenUpdate | undefined)[] {
  const told = seenTokens(rows, options);
  return Array.from(rows[row]!.mask, (trained, t) =>
    trained ? updateOf(told(row, t).outcome) : undefined,
  );
}
