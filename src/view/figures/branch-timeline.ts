import { checkOptions } from "../../../arguments/check-options.js";
import { checkArguments } from "../../../arguments/check-arguments.js";
import type { RolloutTree } from "../../rollout/rollout-tree.js";
import type { BranchAttempt } from "../../rollout/tree/tree-values.js";
import { type Figure, type FigureOptions, figureRules, makeFigure, paletteOf } from "./figure.js";

/**
 * Every attempt at a branch in the order in which it was made: its score, the bar it was held against,
 * and whether it branched.
 *
 * @param tree the tree to show
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { rollout } from "arpo-lab/rollout";
 * import { randomTextPolicy } from "arpo-lab/experimental/testing";
 * import { branchTimeline, describe } from "arpo-lab/view";
 *
 * const [tree] = await rollout(randomTextPolicy(), [{ prompt: "6*7?" }], { n: 4, seed: 1 });
 * assert.match(describe(branchTimeline(tree)), /^0 attempts/);
 * ```
 */
export function branchTimeline(tree: RolloutTree, options: FigureOptions = {}): Figure {
  checkArguments("draw a tree", { tree }, { tree: "tree" });
  checkOptions("draw a tree", options, figureRules);
  const { series } = paletteOf(options);
  const attempts = tree.nodes
    .flatMap((node) => node.branch ?? [])
    .sort((a, b) => a.round - b.round || a.trajectory - b.trajectory || a.attempt - b.attempt);
  const trace = (
    name: string,
    color: string,
    symbol: string,
    keep: (a: BranchAttempt) => boolean,
  ) => {
    const kept = attempts.flatMap((attempt, i) => (keep(attempt) ? [{ attempt, i }] : []));
    return {
      type: "scatter",
      mode: "markers",
      name,
      x: kept.map(({ i }) => i),
      y: kept.map(({ attempt }) => attempt.score),
      text: kept.map(
        ({ attempt }) =>
          `trajectory ${attempt.trajectory}, round ${attempt.round}: ${attempt.reason}`,
      ),
      hovertemplate: "%{text}<extra></extra>",
      marker: { color, symbol, size: 8 },
    };
  };
  const made = attempts.filter((attempt) => attempt.branch).length;
  return makeFigure(
    [
      {
        type: "scatter",
        mode: "lines",
        name: "bar",
        x: attempts.map((_, i) => i),
        y: attempts.map((attempt) => attempt.bar),
        line: { color: series[6], dash: "dot" },
      },
      trace("branched", series[1]!, "circle", (attempt) => attempt.branch),
      trace("did not", series[0]!, "x", (attempt) => !attempt.branch),
    ],
    {
      title: `Branch decisions by ${tree.config.branch.rule}`,
      x: "attempt",
      y: "score",
      description: `${attempts.length} attempts at a branch by ${tree.config.branch.rule}, ${made} of which branched.`,
    },
    options,
  );
}
