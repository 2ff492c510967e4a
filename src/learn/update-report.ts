import type { BatchRow, TrainingBatch } from "./batch.js";
import { learnDisplay } from "./learn-display.js";
import type { UpdateOptions } from "./learner.js";

/** Where a token's ratio stood when it was trained on. */
export type ClipRegion = "inside" | "above" | "below" | "dual";

/** What the update did to one token. */
export interface TokenUpdate {
  ratio: number;
  region: ClipRegion;
  /** Factor of grad ln p in the loss: 0 where clipping dropped the token. */
  weight: number;
}

/**
 * What the update did to each response token of a row, by the table of gradient factors; undefined for
 * tokens that the model did not write.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { tokenUpdate } from "arpo-lab/learn";
 *
 * assert.deepEqual(tokenUpdate(1.5, 1, {}), { ratio: 1.5, region: "above", weight: 0 });
 * assert.equal(tokenUpdate(1.5, 1, { entropyBalancedClipping: true }).weight, 1.2);
 * ```
 */
export function tokenUpdate(ratio: number, advantage: number, options: UpdateOptions): TokenUpdate {
  const { clipRatio = 0.2, clipRatioC = 3 } = options;
  const high = 1 + (options.clipRatioHigh ?? clipRatio);
  const low = 1 - (options.clipRatioLow ?? clipRatio);
  if (advantage > 0 && ratio > high) {
    return { ratio, region: "above", weight: options.entropyBalancedClipping ? high : 0 };
  }
  if (advantage < 0 && ratio < low) return { ratio, region: "below", weight: 0 };
  if (advantage < 0 && ratio > clipRatioC) return { ratio, region: "dual", weight: 0 };
  return { ratio, region: "inside", weight: ratio };
}

/** What an update did: the reference's metrics, and the tokens behind them. */
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
    return Array.from(row.trajectory.tokens, (_, t) => {
      if (!row.trajectory.lossMask[t]) return undefined;
      const ratio = Math.exp(row.newLogprobs![t]! - row.oldLogprobs![t]!);
      return tokenUpdate(ratio, row.advantages[t]!, this.options);
    });
  }

  [Symbol.for("arpo-lab.summary")](): { group: string; text: string } {
    return { group: "Runs", text: `an update of ${this.batch.rows.length} rows` };
  }

  [Symbol.for("Jupyter.display")](): Record<string, string> {
    return learnDisplay.report(this);
  }
}
