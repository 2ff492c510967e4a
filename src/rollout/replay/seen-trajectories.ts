import type { Choice } from "../expand/choose-points.js";
import type { PlannedChain } from "../expand/plan-chains.js";
import type { ReplayPoint } from "./replay-result.js";

/** The trajectories of a tree as a replay takes them up. */
export class SeenTrajectories {
  readonly present: Set<number>;
  readonly points: ReplayPoint[] = [];

  constructor(readonly chains: readonly PlannedChain[]) {
    this.present = new Set(chains.filter(({ kind }) => kind === "initial").map(({ id }) => id));
  }

  /** The trajectories that exist so far. */
  now(): PlannedChain[] {
    return this.chains.filter(({ id }) => this.present.has(id));
  }

  /** Takes up the next trajectory of the tree that leaves there, if there is one. */
  take(round: number, order: number, choice: Choice): PlannedChain | undefined {
    const child = this.chains.find(
      ({ id, kind, parent, split }) =>
        kind === "branch" &&
        !this.present.has(id) &&
        parent === choice.trajectory &&
        split === choice.at,
    );
    if (child) this.present.add(child.id);
    this.points.push({ round, order, ...choice, ...(child ? { child: child.id } : {}) });
    return child;
  }
}
