import type { RolloutTree } from "../../rollout/rollout-tree.js";

/** Every tool call of a step, one line each (`verbose_logging`). */
export function toolCallLines(
  step: number,
  trees: readonly RolloutTree[],
): ({ step: number } & Record<string, unknown>)[] {
  return trees.flatMap(({ index, nodes }) =>
    nodes.flatMap(({ id, trajectory: row, round, tool, run }) =>
      tool ? [{ step, tree: index, row, round, node: id, ...tool, ms: run?.toolMs ?? null }] : [],
    ),
  );
}
