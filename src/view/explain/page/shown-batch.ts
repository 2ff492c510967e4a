import { lossFacts, lossNameOf } from "../../../learn/loss/registry.js";
import type { ExplainedAlgorithm, ExplainPayload } from "../payload.js";
import { type ExplainedBatch, readBatch } from "./read-batch.js";
import { type TokenTerms, tokenTerms } from "./token-terms.js";

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
      .filter(({ settings }) => lossFacts[lossNameOf(settings)].ratioOf === undefined)
      .map((by) => this.terms(token, by))
      .map(({ region, weight }) => `${region} ${String(weight === 0)}`);
    return new Set(told).size;
  }

  /** Every quantity of the objective at a token. */
  terms(token: number, by = this.algorithm): TokenTerms {
    return tokenTerms(this.batch.input(token, by), by.settings);
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
