import type { Choice } from "../expand/choose-points.js";
import type { PlannedChain } from "../expand/plan-chains.js";
import type { ReplayPoint } from "./replay-result.js";

/** The rows of a tree as a replay takes them up. */
export class SeenRows {
  readonly present: Set<number>;
  readonly points: ReplayPoint[] = [];

  constructor(readonly chains: readonly PlannedChain[]) {
    this.present = new Set(chains.filter(({ kind }) => kind === "initial").map(({ row }) => row));
  }

  /** The rows that exist so far. */
  now(): PlannedChain[] {
    return this.chains.filter(({ row }) => this.present.has(row));
  }

  /** Takes up the next row of the tree that leaves there, if there is one. */
  take(round: number, order: number, choice: Choice): PlannedChain | undefined {
    const child = this.chains.find(
      ({ row, kind, parent, split }) =>
        kind === "branch" && !this.present.has(row) && parent === choice.row && split === choice.at,
    );
    if (child) this.present.add(child.row);
    this.points.push({ round, order, ...choice, ...(child ? { child: child.row } : {}) });
    return child;
  }
}
