import { aggregationUnder } from "../../../learn/losses/base/definition.js";
import {
  type LossRow,
  promptScales,
  type Shared,
  weightsOf,
} from "../../../learn/losses/base/token-rule.js";
import { bytesOf } from "../../page/unpack.js";
import type { ExplainedAlgorithm, ExplainedRow, ExplainPayload } from "../payload.js";
import { shownLoss } from "./shown-loss.js";
import { type TokenInput, type TokenTerms, tokenTerms } from "./token-terms.js";

/** A batch as the explainer works with it. */
export interface ExplainedBatch {
  payload: ExplainPayload;
  tokens: Int32Array;
  mask: Uint8Array;
  /**
   * The trajectory of a token, and the trajectories (as numbers of their tokens) that share it, its own
   * included.
   */
  rowOf: (token: number) => number;
  sharing: (token: number) => number[];
  input: (token: number, algorithm: ExplainedAlgorithm) => TokenInput;
}

/** Turns what was packed back into numbers. */
export function readBatch(payload: ExplainPayload): ExplainedBatch {
  const floats = (data: string) => new Float32Array(bytesOf(data).buffer);
  const { rows: sequences } = payload;
  const tokens = new Int32Array(bytesOf(payload.tokens).buffer);
  const mask = bytesOf(payload.mask);
  const logprobs = floats(payload.logprobs);
  const oldLogprobs = floats(payload.oldLogprobs);
  const refLogprobs = payload.refLogprobs === undefined ? undefined : floats(payload.refLogprobs);
  const { sampledLogprobs: said } = payload;
  const sampledLogprobs = said === undefined ? undefined : floats(said);
  const entropies = floats(payload.entropies);
  const advantages = payload.advantages.map(floats);
  const sequenceOf = (token: number) =>
    sequences.findIndex(({ start, length }) => token >= start && token < start + length);
  const values = floats(payload.values);
  const chosen = payload.chosen === undefined ? undefined : floats(payload.chosen);
  const weights = payload.weights === undefined ? undefined : floats(payload.weights);
  const cut = (values: Float32Array | Uint8Array, { start, length }: ExplainedRow) =>
    values.subarray(start, start + length);
  const seen = (algorithm: ExplainedAlgorithm): LossRow[] =>
    sequences.map((sequence) => ({
      logprobs: cut(logprobs, sequence),
      oldLogprobs: cut(oldLogprobs, sequence),
      advantages: cut(advantages[algorithm.advantages]!, sequence),
      mask: cut(mask, sequence),
      entropies: cut(entropies, sequence),
      ...(weights ? { weights: cut(weights, sequence) } : {}),
      ...(payload.wholeWeights ? { wholeWeights: true } : {}),
      ...(sampledLogprobs ? { sampledLogprobs: cut(sampledLogprobs, sequence) } : {}),
      // Another loss would have picked others.
      ...(chosen && algorithm.name === "own" ? { chosen: cut(chosen, sequence) } : {}),
    }));
  const trees = sequences.map(({ tree }) => tree);
  const laid = new Map<ExplainedAlgorithm, LaidOut>();
  const layOut = (algorithm: ExplainedAlgorithm): LaidOut => {
    const found = laid.get(algorithm) ?? laidOut(seen(algorithm), algorithm, trees);
    laid.set(algorithm, found);
    return found;
  };
  return {
    ...{ payload, tokens, mask, rowOf: sequenceOf },
    sharing: (token) => {
      const sequence = sequences[sequenceOf(token)]!;
      const at = token - sequence.start;
      const node = sequence.stretches.find(([, end]) => at < end)?.[0];
      if (node === undefined) return [token];
      return sequences
        .filter(
          ({ tree, stretches }) => tree === sequence.tree && stretches.some(([n]) => n === node),
        )
        .map(({ start }) => start + at);
    },
    input: (token, algorithm) => {
      const sequence = sequenceOf(token);
      const { sharedBy, shareOf, correctionOf } = layOut(algorithm);
      return {
        advantage: advantages[algorithm.advantages]![token]!,
        logprob: logprobs[token]!,
        oldLogprob: oldLogprobs[token]!,
        refLogprob: refLogprobs?.[token] ?? NaN,
        entropy: entropies[token]!,
        value: values[token]!,
        share: shareOf(sequence),
        shared: sharedBy(sequence, token - sequences[sequence]!.start),
        correction: correctionOf(sequence, token - sequences[sequence]!.start),
      };
    },
  };
}

/**
 * An algorithm's view of the trajectories: what tokens have in common, and what a token of a trajectory
 * counts for.
 */
interface LaidOut {
  sharedBy: (sequence: number, token: number) => Shared;
  shareOf: (sequence: number) => number;
  correctionOf: (sequence: number, token: number) => number;
}

function laidOut(
  sequences: readonly LossRow[],
  algorithm: ExplainedAlgorithm,
  trees: readonly number[],
): LaidOut {
  const { facts, rule, settings } = shownLoss(algorithm);
  const share = rule.share?.(sequences, settings);
  const sharedBy = (sequence: number, token: number) => share?.(sequence, token) ?? {};
  // A trajectory that the loss leaves out as a whole counts nowhere.
  const counts = sequences.map(({ mask }, r) =>
    sharedBy(r, 0)["dropped"] ? 0 : Array.from(mask).reduce((n, m) => n + m, 0),
  );
  const tokens = counts.reduce((sum, n) => sum + n, 0);
  const longest = sequences.reduce((most, { mask }) => Math.max(most, mask.length), 1);
  const width = settings.paddedLength ?? longest;
  const { mode, rule: arithmetic } = aggregationUnder(facts, settings);
  const older = arithmetic === "older";
  const all = arithmetic === "verl-0.9.1" ? counts.filter((n) => n > 0).length : sequences.length;
  const ofPrompts = promptScales(trees, counts);
  const shareOf = (sequence: number) => {
    if (counts[sequence] === 0) return 0;
    if (mode === "token-sum") return 1;
    if (mode === "prompt-mean") return ofPrompts[sequence]!;
    if (mode === "token-mean") return 1 / (tokens + (older ? 1e-8 : 0));
    if (mode === "seq-mean-token-sum") return 1 / all;
    if (mode === "seq-mean-token-mean") return 1 / (all * counts[sequence]!);
    return 1 / (older ? width : all * width);
  };
  return { sharedBy, shareOf, correctionOf: weightsOf(rule, sequences) };
}

/** A batch as it is shown: the algorithm and the token that are looked at. */
export class ShownBatch {
  readonly batch: ExplainedBatch;
  algorithm: ExplainedAlgorithm;
  token: number;
  /** The tokens that the model wrote. */
  readonly trained: readonly number[];

  constructor(readonly payload: ExplainPayload) {
    const { algorithms, first } = payload;
    this.batch = readBatch(payload);
    this.algorithm = algorithms.find(({ name }) => name === first) ?? algorithms[0]!;
    const { mask } = this.batch;
    this.trained = Array.from(mask.keys()).filter((token) => mask[token] === 1);
    // The token whose outcome depends most on the algorithm is the one worth looking at.
    const outcomes = this.trained.map((token) => this.#outcomes(token));
    this.token = this.trained[outcomes.indexOf(outcomes.reduce((a, b) => Math.max(a, b), 1))]!;
  }

  /** In how many ways the losses of single tokens treat one. */
  #outcomes(token: number): number {
    const told = this.payload.algorithms
      .filter((by) => shownLoss(by).facts.ratioOf === undefined)
      .map((by) => this.terms(token, by))
      .map(({ region, weight }) => `${region} ${String(weight === 0)}`);
    return new Set(told).size;
  }

  /** Every quantity of the objective at a token. */
  terms(token: number, by = this.algorithm): TokenTerms {
    return tokenTerms(this.batch.input(token, by), by);
  }

  /** What a token says; its number where no tokenizer was there. */
  text(token: number): string {
    const id = this.batch.tokens[token]!;
    return this.payload.vocabulary[id] ?? `#${String(id)} `;
  }

  /** The trajectory of the token that is looked at. */
  get row(): ExplainPayload["rows"][number] {
    return this.payload.rows[this.batch.rowOf(this.token)]!;
  }
}
