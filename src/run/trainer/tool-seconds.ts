import type { RolloutTree } from "../../rollout/rollout-tree.js";

/**
 * Seconds of a rollout in which at least one tool was at work: calls that overlap count once, so it is a
 * part of the rollout's own time.
 */
export function toolSeconds(trees: readonly RolloutTree[]): number {
  const spans = trees
    .flatMap(({ nodes }) => nodes.flatMap(({ tool, run }) => (tool && run ? [run] : [])))
    .sort((a, b) => a.start - b.start);
  let milliseconds = 0;
  let until = -Infinity;
  for (const { start, end } of spans) {
    milliseconds += Math.max(0, end - Math.max(start, until));
    until = Math.max(until, end);
  }
  return milliseconds / 1000;
}
