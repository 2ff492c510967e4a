import type { Verdict } from "../../payload.js";
import { ancestors, type TreeFacts } from "../tree/tree-facts.js";
import type { Ghost, ShownReplay } from "../tree/shown-replay.js";

export type Filter = "all" | "right" | "wrong";

/** A line of the drawing: a trajectory, or a branch that other settings would make. */
export interface Lane {
  key: string;
  /** -1 for a ghost. */
  trajectory: number;
  ghost?: Ghost;
  /** Shown for its descendants alone. */
  dim: boolean;
  /** Would not exist with the settings of What if? */
  gone: boolean;
  y: number;
  height: number;
}

/** Whether a trajectory passes the filter. */
export const passes = (filter: Filter, verdict: Verdict | undefined): boolean =>
  filter === "all" || (filter === "right") === (verdict === "right");

/**
 * The lanes from top to bottom, depth first; of a parent's children the one that branches last comes
 * first. Then no link crosses another: what lies between a parent and a child starts further right.
 */
export function laneOrder(facts: TreeFacts, filter: Filter, replay: ShownReplay): Lane[] {
  const { tree, above, verdicts } = facts;
  const kept = new Set<number>();
  const fits = (trajectory: number) => passes(filter, verdicts[trajectory]);
  tree.trajectories.forEach((_, i) => {
    if (fits(i)) for (const one of ancestors(facts, i)) kept.add(one);
  });
  const children = new Map<number, { at: number; child?: number; ghost?: Ghost }[]>();
  const under = (trajectory: number, entry: { at: number; child?: number; ghost?: Ghost }) =>
    void (children.get(trajectory)?.push(entry) ?? children.set(trajectory, [entry]));
  tree.trajectories.forEach(({ from }, child) => {
    if (above[child]! < 0) return;
    const node = tree.nodes[from];
    under(above[child]!, { at: node ? node.depth + node.length : 0, child });
  });
  if (filter === "all") {
    for (const ghost of replay.ghosts) {
      under(Math.max(0, tree.nodes[ghost.node]!.trajectory), { at: ghost.at, ghost });
    }
  }
  const lanes: Lane[] = [];
  const seen = new Map<string, number>();
  const visit = (trajectory: number) => {
    if (!kept.has(trajectory)) return;
    lanes.push({
      ...{ key: `t${trajectory}`, trajectory, y: 0, height: 0 },
      ...{ dim: !fits(trajectory), gone: replay.missing.has(trajectory) },
    });
    const below = children.get(trajectory) ?? [];
    below.sort((a, b) => b.at - a.at || (a.child ?? Infinity) - (b.child ?? Infinity) || 0);
    for (const { child, ghost } of below) {
      if (!ghost) {
        visit(child!);
        continue;
      }
      const place = `g${ghost.node}.${ghost.offset}`;
      const count = seen.get(place) ?? 0;
      seen.set(place, count + 1);
      lanes.push({
        ...{ key: `${place}.${count}`, trajectory: -1, ghost, y: 0, height: 0 },
        ...{ dim: false, gone: false },
      });
    }
  };
  tree.trajectories.forEach((_, i) => {
    if (above[i]! < 0) visit(i);
  });
  return lanes;
}
