import { checkArguments, kinds, shown } from "../../common/options/check-arguments.js";
import type { Trajectory } from "../rollout/tree/trajectory.js";
import type { RolloutTree } from "../rollout/rollout-tree.js";
import { logged, showAs, type Shown } from "../base/show/show-as.js";
import type { Score } from "./score.js";

/** Refuses what is not scored: a tree and a list of trees get the call that scores them. */
export function checkScored(action: string, scored: unknown): void {
  const one: unknown = Array.isArray(scored) ? scored[0] : scored;
  if (kinds.tree[1](one) || one instanceof Promise) {
    throw new TypeError(
      `Cannot ${action}: scored must be what score() found, got ${shown(scored)}; write await score(…) first`,
    );
  }
  checkArguments(action, { scored } as { scored: Scored }, {
    scored: { trajectories: "list" },
  });
}

/** One trajectory with its score. */
export interface ScoredTrajectory {
  trajectory: Trajectory;
  /** Trajectories of one prompt share a group. */
  group: string;
  score: Score;
  /**
   * What each turn earned: the reward that its call's tool gave, and what the score says of it. Absent
   * where neither says anything.
   */
  turnRewards?: readonly number[];
}

/**
 * Scored trajectories: what advantages are made from. Shows itself.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { score } from "arpo-lab/learn";
 * import { rollout } from "arpo-lab/rollout";
 * import { randomTextPolicy } from "arpo-lab/experimental/testing";
 *
 * const tree = await rollout(randomTextPolicy(), { prompt: "6*7?" }, { n: 2, seed: 1 });
 * const scored = await score(tree, () => ({ score: 1, reason: "kind" }));
 * assert.equal(scored.mean, 1);
 * assert.match(String(scored), /mean score 1\.000/);
 * ```
 */
export class Scored {
  /**
   * @param trajectories the trajectories with their scores
   * @param trees the trees that they belong to
   */
  constructor(
    readonly trajectories: readonly ScoredTrajectory[],
    readonly trees: readonly RolloutTree[],
  ) {}

  /** Mean score. */
  get mean(): number {
    return (
      this.trajectories.reduce((sum, { score }) => sum + score.score, 0) / this.trajectories.length
    );
  }

  [Symbol.for("arpo-lab.summary")](): { group: string; text: string } {
    return {
      group: "Batches",
      text: `${this.trajectories.length} trajectories, mean ${this.mean.toFixed(3)}`,
    };
  }

  /** A table, one line per trajectory, with the reason of each score. */
  toString(): string {
    const lines = this.trajectories.map(({ trajectory, group, score }) =>
      [
        group,
        String(trajectory.id),
        score.score.toFixed(3),
        score.answer ?? "",
        String(trajectory.toolCalls.length),
        String(trajectory.tokens.length),
        trajectory.end,
        score.reason,
      ]
        .map((cell) => (cell.length > 60 ? `${cell.slice(0, 59)}…` : cell))
        .join("\t"),
    );
    const title = `${this.trajectories.length} trajectories, mean score ${this.mean.toFixed(3)}`;
    return [title, "task\trow\tscore\tanswer\tcalls\ttokens\tend\treason", ...lines].join("\n");
  }

  [Symbol.for("Jupyter.display")](): Shown {
    return showAs("Scored", this);
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return logged(this);
  }
}
