import type { Scored } from "../reward/scored.js";
import type { Trajectory } from "../rollout/trajectory.js";
import { learnDisplay } from "./learn-display.js";

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

/** Trajectories with advantages: what an update is made from. Shows itself. */
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

  [Symbol.for("arpo-lab.summary")](): { group: string; text: string } {
    return { group: "Batches", text: `${this.rows.length} rows, ${this.estimator}` };
  }

  [Symbol.for("Jupyter.display")](): Record<string, string> {
    return learnDisplay.batch(this);
  }
}
