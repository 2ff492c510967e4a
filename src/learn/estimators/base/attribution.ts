import type { Scored } from "../../../reward/scored.js";

/**
 * The ARPO paper's hard attribution: a token that several trajectories of a tree share gets the mean of their
 * advantages, a trajectory's own tokens keep the trajectory's.
 */
export function hardAttribution(
  scored: Scored,
  advantages: readonly Float64Array[],
): Float64Array[] {
  const out = advantages.map((row) => row.slice());
  for (const tree of scored.trees) {
    // Where each node's tokens stand in each trajectory that passes through it.
    const through = new Map<number, { row: number; at: number }[]>();
    scored.trajectories.forEach(({ trajectory }, row) => {
      if (trajectory.tree !== tree.index) return;
      let at = 0;
      for (const node of trajectory.nodes) {
        const list = through.get(node) ?? [];
        list.push({ row, at });
        through.set(node, list);
        at += tree.nodes[node]!.tokens.length;
      }
    });
    for (const [node, places] of through) {
      if (places.length < 2) continue;
      for (let t = 0; t < tree.nodes[node]!.tokens.length; t++) {
        const sharing = places.filter(({ row, at }) => at + t < advantages[row]!.length);
        const sum = sharing.reduce((total, { row, at }) => total + advantages[row]![at + t]!, 0);
        for (const { row, at } of sharing) out[row]![at + t] = sum / sharing.length;
      }
    }
  }
  return out;
}
