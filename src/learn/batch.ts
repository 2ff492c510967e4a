import type { Scored } from "../reward/scored.js";
import type { Trajectory } from "../rollout/trajectory.js";

/** One trajectory as training reads it; the arrays have one entry per response token. */
export interface BatchRow {
  trajectory: Trajectory;
  /** Rows of one prompt share a group. */
  group: string;
  /** The whole trajectory's score. */
  reward: number;
  advantages: Float32Array;
  returns: Float32Array;
  /** ln p under the policy before the update, recomputed by the model that is trained. */
  oldLogprobs?: Float32Array;
  /** Full-vocabulary entropy at each token before the update. */
  entropies?: Float32Array;
  /** ln p under the frozen reference policy. */
  refLogprobs?: Float32Array;
  /** ln p when the row's mini-batch was updated; with oldLogprobs it gives the ratio. */
  newLogprobs?: Float32Array;
  /** The critic's values before the update. */
  values?: Float32Array;
}

/** Trajectories with advantages: what an update is made from. Shows itself as a table. */
export class TrainingBatch {
  constructor(
    readonly rows: readonly BatchRow[],
    readonly estimator: string,
    /** What the advantages were estimated from, where that is known. */
    readonly scored?: Scored,
  ) {}

  /** Tokens that are trained on. */
  get tokens(): number {
    return this.rows.reduce(
      (sum, { trajectory }) => sum + trajectory.lossMask.reduce((n, m) => n + m, 0),
      0,
    );
  }

  [Symbol.for("Jupyter.display")](): Record<string, string> {
    const lines = this.rows.map(({ trajectory, group, reward, advantages }) => {
      const own = advantages.filter((_, t) => trajectory.lossMask[t]);
      const low = own.reduce((a, b) => Math.min(a, b), Infinity);
      const high = own.reduce((a, b) => Math.max(a, b), -Infinity);
      const range = low === high ? low.toFixed(3) : `${low.toFixed(3)} to ${high.toFixed(3)}`;
      return `${group}\t${trajectory.row}\t${reward.toFixed(3)}\t${range}\t${own.length}`;
    });
    const title = `${this.rows.length} rows, ${this.tokens} trained tokens, advantages by ${this.estimator}`;
    return {
      "text/plain": [title, "task\trow\treward\tadvantage\ttokens", ...lines].join("\n"),
    };
  }
}
