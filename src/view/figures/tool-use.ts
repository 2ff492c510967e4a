import { checkOptions } from "../../../arguments/check-options.js";
import { checkArguments } from "../../../arguments/check-arguments.js";
import type { RolloutTree } from "../../rollout/rollout-tree.js";
import type { NodeTool } from "../../rollout/tree/tree-values.js";
import { type Figure, type FigureOptions, figureRules, makeFigure, paletteOf } from "./figure.js";

/**
 * How often each tool was called in some trees, and how it went; a call that trajectories share counts once.
 *
 * @param trees the trees whose calls are counted
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { describe, toolUse } from "arpo-lab/view";
 *
 * assert.equal(describe(toolUse([])), "No tool was called.");
 * ```
 */
export function toolUse(trees: Iterable<RolloutTree>, options: FigureOptions = {}): Figure {
  checkArguments("draw tool use", { trees }, { trees: "items" });
  checkOptions("draw tool use", options, figureRules);
  const { series } = paletteOf(options);
  const calls = [...trees].flatMap((tree) =>
    tree.nodes.flatMap(({ tool }) => (tool && !tool.edited ? [tool] : [])),
  );
  const tags = [...new Set(calls.map((call) => call.tag))].sort();
  const outcomes = ["ok", ...new Set(calls.flatMap((call) => (call.ok ? [] : [failed(call)])))];
  const count = (tag: string, outcome: string) =>
    calls.filter((call) => call.tag === tag && (call.ok ? "ok" : failed(call)) === outcome).length;
  const words = tags.map((tag) => {
    const own = calls.filter((call) => call.tag === tag);
    return `${tag} ${own.length} times, ${own.filter((call) => !call.ok).length} of them failed`;
  });
  return makeFigure(
    outcomes.map((outcome, i) => ({
      type: "bar",
      name: outcome,
      x: tags,
      y: tags.map((tag) => count(tag, outcome)),
      marker: { color: series[(i === 0 ? 2 : i === 1 ? 1 : i + 2) % series.length] },
    })),
    {
      title: "Tool calls",
      x: "tool",
      y: "calls",
      description: tags.length === 0 ? "No tool was called." : `Tool calls: ${words.join("; ")}.`,
    },
    options,
    { barmode: "stack" },
  );
}

function failed({ failure }: NodeTool): string {
  return failure?.kind ?? "failed";
}
