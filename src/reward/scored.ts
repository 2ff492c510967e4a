import type { Trajectory } from "../rollout/trajectory.js";
import type { RolloutTree } from "../rollout/rollout-tree.js";
import type { Score } from "./score.js";
import { scoredDisplay } from "./scored-display.js";

/** One trajectory with its score. */
export interface ScoredTrajectory {
  trajectory: Trajectory;
  /** Rows of one prompt share a group. */
  group: string;
  score: Score;
}

/** Scored trajectories: what advantages are made from. Shows itself. */
export class Scored {
  constructor(
    readonly rows: readonly ScoredTrajectory[],
    readonly trees: readonly RolloutTree[],
  ) {}

  /** Mean score. */
  get mean(): number {
    return this.rows.reduce((sum, { score }) => sum + score.score, 0) / this.rows.length;
  }

  [Symbol.for("arpo-lab.summary")](): { group: string; text: string } {
    return { group: "Batches", text: `${this.rows.length} rows, mean ${this.mean.toFixed(3)}` };
  }

  [Symbol.for("Jupyter.display")](): Record<string, string> {
    return scoredDisplay.show(this);
  }
}
