import { showAs, type Shown } from "../show/index.js";
import { type BatchRow, isTrained, trainedMask, type TrainingBatch } from "./batch.js";
import { rowLogRatio, tokenRatio } from "./loss/token-ratio.js";
import { tokenUpdate, type TokenUpdate } from "./loss/token-update.js";
import type { UpdateOptions } from "./update-options.js";

/**
 * What an update did: the reference's metrics, and the tokens behind them.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { TrainingBatch, UpdateReport } from "arpo-lab/learn";
 *
 * // Usually: await update(policy, batch, options).
 * const report = new UpdateReport({ "actor/lr": 1e-6 }, new TrainingBatch([], "grpo"), {}, 0);
 * assert.equal(report.metrics["actor/lr"], 1e-6);
 * ```
 */
export class UpdateReport {
  constructor(
    /** Under the reference's names. */
    readonly metrics: Readonly<Record<string, number>>,
    readonly batch: TrainingBatch,
    readonly options: UpdateOptions,
    /** Optimiser steps left out because the gradient was not finite. */
    readonly skippedSteps: number,
    /** Optimiser steps asked for, those included. */
    readonly optimizerSteps: number = skippedSteps,
  ) {}

  /** What happened to each response token of a row; undefined where the model did not write. */
  tokens(row: BatchRow): (TokenUpdate | undefined)[] {
    const { trajectory, advantages } = row;
    if (!isTrained(row)) {
      throw new TypeError(
        `Cannot tell what an update did: the row must have been updated, got row ${trajectory.row} without log-probabilities`,
      );
    }
    const { newLogprobs, oldLogprobs, rolloutWeights } = row;
    const mask = trainedMask(row);
    const ofRow = rowLogRatio(newLogprobs, oldLogprobs, mask);
    return Array.from(trajectory.tokens, (_, t) => {
      if (!trajectory.lossMask[t]) return undefined;
      const token = {
        ...{ logprob: newLogprobs[t]!, oldLogprob: oldLogprobs[t]! },
        rowLogRatio: ofRow,
      };
      const ratio = tokenRatio(token, this.options.ratio);
      const found = tokenUpdate(ratio, advantages[t]!, this.options);
      // A correction weighs the token's loss; what it rejected has none.
      return { ...found, weight: found.weight * (rolloutWeights?.[t] ?? 1) * mask[t]! };
    });
  }

  [Symbol.for("arpo-lab.summary")](): { group: string; text: string } {
    return { group: "Runs", text: `an update of ${this.batch.rows.length} rows` };
  }

  /** A table of the metrics. */
  toString(): string {
    const lines = Object.entries(this.metrics).map(
      ([name, value]) => `${name}\t${Number(value.toPrecision(5))}`,
    );
    if (this.skippedSteps > 0) {
      lines.push(`${this.skippedSteps} steps skipped: their gradient was not finite`);
    }
    return lines.join("\n");
  }

  [Symbol.for("Jupyter.display")](): Shown {
    return showAs("UpdateReport", this);
  }
}
