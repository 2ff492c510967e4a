import { ToolMetrics } from "../../tools/tool-metrics.js";
import type { RolloutTreeData } from "./tree-data.js";

/**
 * The tool metrics of a batch of trees under the reference's names. Times are in seconds. Calls of
 * AEPO's probes are not counted, as in the reference.
 */
export function toolMetrics(
  trees: Iterable<Pick<RolloutTreeData, "config" | "nodes" | "environment">>,
): Record<string, number> {
  const list = [...trees];
  const metrics = new ToolMetrics(
    new Set(list.flatMap((tree) => [...tree.config.tools, ...(tree.environment?.tools ?? [])])),
  );
  for (const { nodes } of list) {
    for (const { tool, kind, run } of nodes) {
      if (kind === "end") metrics.recordLimitReached();
      if (tool && !tool.edited) metrics.record({ ...tool, ms: run?.toolMs ?? 0 });
    }
  }
  return metrics.values();
}
