import { rowLogRatio } from "../../../learn/loss/token-ratio.js";
import { aggregationOf } from "../../../learn/loss/aggregation-choice.js";
import { bytesOf } from "../../page/unpack.js";
import type { ExplainedAlgorithm, ExplainPayload } from "../payload.js";
import type { TokenInput } from "./token-terms.js";

/** A batch as the explainer works with it. */
export interface ExplainedBatch {
  payload: ExplainPayload;
  tokens: Int32Array;
  mask: Uint8Array;
  /** The row of a token, and the rows (as numbers of their tokens) that share it, its own included. */
  rowOf: (token: number) => number;
  sharing: (token: number) => number[];
  input: (token: number, algorithm: ExplainedAlgorithm) => TokenInput;
}

/** Turns what was packed back into numbers. */
export function readBatch(payload: ExplainPayload): ExplainedBatch {
  const floats = (data: string) => new Float32Array(bytesOf(data).buffer);
  const { rows } = payload;
  const tokens = new Int32Array(bytesOf(payload.tokens).buffer);
  const mask = bytesOf(payload.mask);
  const logprobs = floats(payload.logprobs);
  const oldLogprobs = floats(payload.oldLogprobs);
  const refLogprobs = payload.refLogprobs === undefined ? undefined : floats(payload.refLogprobs);
  const entropies = floats(payload.entropies);
  const advantages = payload.advantages.map(floats);
  const places = Array.from(tokens.keys()).filter((token) => mask[token] === 1);
  const known = places.filter((token) => !Number.isNaN(entropies[token]));
  const mean = known.reduce((sum, token) => sum + entropies[token]!, 0) / Math.max(1, known.length);
  const squares = known.reduce((sum, token) => sum + (entropies[token]! - mean) ** 2, 0);
  const deviation = Math.sqrt(squares / Math.max(1, known.length - 1));

  const rowOf = (token: number) =>
    rows.findIndex(({ start, length }) => token >= start && token < start + length);
  const own = rows.map(({ start, length }) => {
    const of = (values: Float32Array) => values.subarray(start, start + length);
    const trained = mask.subarray(start, start + length);
    return {
      ratio: rowLogRatio(of(logprobs), of(oldLogprobs), trained),
      count: trained.reduce((n, m) => n + m, 0),
    };
  });
  const longest = rows.reduce((most, { length }) => Math.max(most, length), 1);
  const share = (row: number, { settings }: ExplainedAlgorithm) => {
    switch (aggregationOf(settings).mode) {
      case "token-mean":
        return 1 / (places.length + 1e-8);
      case "seq-mean-token-sum":
        return 1 / rows.length;
      case "seq-mean-token-mean":
        return 1 / (rows.length * Math.max(1, own[row]!.count));
      default:
        return 1 / longest;
    }
  };
  return {
    ...{ payload, tokens, mask, rowOf },
    sharing: (token) => {
      const row = rows[rowOf(token)]!;
      const at = token - row.start;
      const node = row.stretches.find(([, end]) => at < end)?.[0];
      if (node === undefined) return [token];
      return rows
        .filter(({ tree, stretches }) => tree === row.tree && stretches.some(([n]) => n === node))
        .map(({ start }) => start + at);
    },
    input: (token, algorithm) => {
      const row = rowOf(token);
      return {
        advantage: advantages[algorithm.advantages]![token]!,
        logprob: logprobs[token]!,
        oldLogprob: oldLogprobs[token]!,
        refLogprob: refLogprobs?.[token] ?? NaN,
        // An end token put by the rules was not sampled: it is neither certain nor uncertain.
        entropy: Number.isNaN(entropies[token]!) ? mean : entropies[token]!,
        rowLogRatio: own[row]!.ratio,
        entropyMean: mean,
        entropyDeviation: deviation || 1,
        share: share(row, algorithm),
      };
    },
  };
}
