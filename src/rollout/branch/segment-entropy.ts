import * as exact from "../../base/exact/index.js";
import { checkArguments } from "../../../common/options/check-arguments.js";
import { checkOptions, integer, oneOf } from "../../../common/options/check-options.js";
import {
  completed,
  type Given,
  type Named,
  type Option,
  option,
  rulesOf,
} from "../../../common/options/option-table.js";
import type { Segment } from "../../policy/policy.js";

/** How a segment's entropy is measured. */
export const entropyTable = {
  /** Positions from the start of the segment that count. Default 20, as the reference. */
  positions: option(integer(1), 20) satisfies Option<number>,
  /** Most likely tokens per position that count, besides the sampled one. Default 10. */
  topK: option(integer(0), 10),
  /**
   * What the sum is divided by: ln of the vocabulary size, the vocabulary size, or nothing.
   * Default: `ln-vocab`.
   */
  normalizer: option(oneOf(["ln-vocab", "vocab", "none"]), "ln-vocab"),
  /**
   * `pooled`: the reference's sum over every reported log-probability of the positions. `mean`: the
   * mean over the positions of the full distribution's entropy. Default: `pooled`.
   */
  measure: option(oneOf(["pooled", "mean"]), "pooled"),
};

/** How a segment's entropy is measured. */
export interface EntropyOptions extends Given<typeof entropyTable>, Named {}

const entropyRules = rulesOf(entropyTable);

/** What entropy is measured on: a segment, or a node of a tree. */
type EntropySource = Pick<Segment, "tokens" | "logprobs" | "entropies"> &
  Partial<Pick<Segment, "top">>;

/**
 * The entropy of a freshly generated segment, as branching uses it.
 *
 * The reference pools the reported log-probabilities l of the first positions and takes
 * -sum(exp(l) l) / ln V: cut-off distributions are not renormalised and positions are summed, not
 * averaged, so the value reaches about 20. An empty segment gives 0. Where a policy reports fewer
 * alternatives than `topK`, or no log-prob for some tokens (NaN), what it reports is used and the value
 * is a lower bound. Where it reports none at all (width 0) but an entropy, or an estimate of one as a
 * surprisal is, that is summed.
 *
 * @param segment the segment's entropies or log-probabilities
 * @param vocabSize the number of tokens that the entropy is normalised by
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { segmentEntropy } from "arpo-lab/rollout";
 *
 * const half = Math.log(0.5);
 * const segment = {
 *   tokens: Int32Array.of(0),
 *   logprobs: Float32Array.of(half),
 *   entropies: Float32Array.of(Math.LN2),
 *   top: { width: 2, ids: Int32Array.of(0, 1), logprobs: Float32Array.of(half, half) },
 * };
 * assert.ok(Math.abs(segmentEntropy(segment, 2) - 1) < 1e-6);
 * assert.ok(Math.abs(segmentEntropy(segment, 8, { measure: "mean" }) - 1 / 3) < 1e-6);
 * ```
 */
export function segmentEntropy(
  segment: EntropySource,
  vocabSize: number,
  options: EntropyOptions = {},
): number {
  checkArguments(
    "measure an entropy",
    { segment, vocabSize },
    { segment: { tokens: "list", logprobs: "list", top: "object" }, vocabSize: "number" },
  );
  checkOptions("measure an entropy", options, entropyRules);
  const how = completed(entropyTable, options, {});
  const positions = Math.min(how.positions, segment.tokens.length);
  if (positions === 0) return 0;
  const nats =
    how.measure === "mean"
      ? segment.entropies.subarray(0, positions).reduce((sum, h) => sum + h, 0) / positions
      : pooled(segment, positions, how.topK);
  if (how.normalizer === "none") return nats;
  return nats / (how.normalizer === "vocab" ? vocabSize : exact.log(vocabSize));
}

function pooled(
  { tokens, logprobs, entropies, top }: EntropySource,
  positions: number,
  topK: number,
): number {
  let sum = 0;
  const add = (l: number) => {
    // An impossible token adds nothing (exp(-Infinity) * -Infinity would be NaN), nor does one that
    // an endpoint gives no log-prob for.
    if (l > -Infinity) sum -= exact.exp(l) * l;
  };
  const width = Math.min(topK, top?.width ?? 0);
  for (let at = 0; at < positions; at++) {
    // No alternatives, but an estimate of the whole entropy: a server that says the drawn token alone.
    if (top?.width === 0 && Number.isFinite(entropies[at])) {
      sum += entropies[at]!;
      continue;
    }
    let sampled = false;
    for (let k = 0; top && k < width; k++) {
      add(top.logprobs[at * top.width + k]!);
      sampled ||= top.ids[at * top.width + k] === tokens[at];
    }
    if (!sampled) add(logprobs[at]!);
  }
  return sum;
}
