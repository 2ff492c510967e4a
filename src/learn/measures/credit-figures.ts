import type { TrainingBatch } from "../batch.js";

/** How much of a batch says anything, and how finely. */
export interface CreditFigures {
  /** Mean size of the advantage of a trained token: 0 where no trajectory differs from its like. */
  informativeMass: number;
  /**
   * Deviation of the advantages inside a trajectory, mean over trajectories: 0 where a trajectory has
   * one for all tokens.
   */
  creditSpread: number;
}

/** What the advantages of a batch are like: how large, and how much they tell a trajectory's tokens apart. */
export function creditFigures(batch: Pick<TrainingBatch, "rows">): CreditFigures {
  let [mass, tokens, spread, rows] = [0, 0, 0, 0];
  for (const { trajectory, advantages } of batch.rows) {
    const own = Array.from(advantages).filter((_, t) => trajectory.lossMask[t]);
    if (own.length === 0) continue;
    const mean = own.reduce((a, b) => a + b, 0) / own.length;
    mass += own.reduce((sum, a) => sum + Math.abs(a), 0);
    tokens += own.length;
    // Equal advantages differ by nothing, whatever their mean rounds to.
    if (own.some((a) => a !== own[0])) {
      spread += Math.sqrt(own.reduce((sum, a) => sum + (a - mean) ** 2, 0) / own.length);
    }
    rows++;
  }
  return {
    informativeMass: tokens === 0 ? 0 : mass / tokens,
    creditSpread: rows === 0 ? 0 : spread / rows,
  };
}
