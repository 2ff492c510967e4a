import { checkArguments } from "../../../common/options/check-arguments.js";
import { checkOptions } from "../../../common/options/check-options.js";
import type { RolloutTree } from "../../rollout/rollout-tree.js";
import { branchOf } from "../../rollout/rules/decide-branch.js";
import type { Trajectory } from "../../rollout/tree/trajectory.js";
import type { BranchAttempt, NodeTool } from "../../rollout/tree/tree-values.js";
import {
  colorscale,
  type Figure,
  type FigureOptions,
  figureRules,
  makeFigure,
  paletteOf,
  said,
} from "./figure.js";

/**
 * The entropy at each token of a trajectory; gaps are what tools wrote.
 *
 * @param trajectory a trajectory of a tree
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { rollout } from "arpo-lab/rollout";
 * import { randomTextPolicy } from "arpo-lab/experimental/testing";
 * import { tokenEntropy } from "arpo-lab/view";
 *
 * const [tree] = await rollout(randomTextPolicy(), [{ prompt: "6*7?" }], { seed: 1 });
 * const [trajectory] = tree.trajectories;
 * const [line] = tokenEntropy(trajectory).data;
 * assert.equal((line.y as number[]).length, trajectory.tokens.length);
 * ```
 */
export function tokenEntropy(trajectory: Trajectory, options: FigureOptions = {}): Figure {
  checkArguments("draw an entropy", { trajectory }, { trajectory: "trajectory" });
  checkOptions("draw an entropy", options, figureRules);
  const y = Array.from(trajectory.entropies, (value) => (Number.isNaN(value) ? null : value));
  const known = y.filter((value) => value !== null);
  const mean = known.reduce((sum, value) => sum + value, 0) / Math.max(1, known.length);
  const peak = known.reduce((a, b) => Math.max(a, b), 0);
  return makeFigure(
    [
      {
        ...{ type: "scatter", mode: "lines", name: "entropy", x: y.map((_, t) => t), y },
        line: { color: paletteOf(options).series[1] },
      },
    ],
    {
      title: `Entropy along trajectory ${trajectory.id}`,
      x: "token of the response",
      y: "entropy (nats)",
      description: `${known.length} sampled tokens with a mean entropy of ${said(mean)} nats, at most ${said(peak)} at token ${y.indexOf(peak)}; ${trajectory.toolCalls.length} tool calls.`,
    },
    options,
  );
}

const mostColumns = 400;

/**
 * A tree's trajectories from top to bottom, its tokens from left to right, coloured by entropy; lines lead from
 * where a trajectory branched to the trajectory it made. What no policy sampled stays empty.
 *
 * @param tree the tree to show
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { rollout } from "arpo-lab/rollout";
 * import { randomTextPolicy } from "arpo-lab/experimental/testing";
 * import { entropyTree } from "arpo-lab/view";
 *
 * const [tree] = await rollout(randomTextPolicy(), [{ prompt: "6*7?" }], { n: 4, seed: 1 });
 * assert.equal(entropyTree(tree).data[0].type, "heatmap");
 * ```
 */
export function entropyTree(tree: RolloutTree, options: FigureOptions = {}): Figure {
  checkArguments("draw a tree", { tree }, { tree: "tree" });
  checkOptions("draw a tree", options, figureRules);
  const palette = paletteOf(options);
  const starts: number[] = [];
  for (const { parent } of tree.nodes) {
    starts.push(parent < 0 ? 0 : starts[parent]! + tree.nodes[parent]!.tokens.length);
  }
  const longest = Math.max(1, ...tree.nodes.map((node, i) => starts[i]! + node.tokens.length));
  const step = Math.ceil(longest / mostColumns);
  const columns = Math.ceil(longest / step);
  const hottest = tree.trajectories.map(() => new Array<number>(columns).fill(NaN));
  tree.nodes.forEach(({ trajectory: row, entropies }, i) => {
    const lane = hottest[Math.max(0, row)]!;
    entropies.forEach((entropy, t) => {
      const column = Math.floor((starts[i]! + t) / step);
      // The highest of the tokens that share a column: an average would hide what branches.
      if (!(lane[column]! >= entropy)) lane[column] = entropy;
    });
  });
  const x: (number | null)[] = [];
  const y: (number | null)[] = [];
  for (const { id: row, kind, parent, from } of tree.trajectories) {
    if (kind !== "branch" || from < 0) continue;
    const at = starts[from]! + tree.nodes[from]!.tokens.length;
    x.push(at, at, null);
    y.push(parent, row, null);
  }
  const values = hottest.flat().filter((value) => !Number.isNaN(value));
  const branches = tree.trajectories.filter((row) => row.kind === "branch").length;
  const most = values.reduce((a, b) => Math.max(a, b), 0);
  return makeFigure(
    [
      {
        type: "heatmap",
        x: Array.from({ length: columns }, (_, i) => i * step + (step - 1) / 2),
        y: tree.trajectories.map(({ id: row }) => row),
        z: hottest,
        zmin: 0,
        zmax: most,
        colorscale: colorscale(palette.entropy),
        colorbar: { title: { text: "entropy" } },
        hovertemplate: "trajectory %{y}, token %{x}: entropy %{z:.3f}<extra></extra>",
      },
      {
        ...{ type: "scatter", mode: "lines", name: "branches", x, y },
        ...{ line: { color: palette.structure }, hoverinfo: "skip" },
      },
    ],
    {
      title: "Where the policy was uncertain, and where it branched",
      x: "token of the response",
      y: "trajectory",
      description: `A tree of ${tree.trajectories.length} trajectories, ${branches} of them branches, and ${longest} tokens at the longest; the entropy of a token reaches ${said(most)} nats.`,
    },
    options,
    { yaxis: { autorange: "reversed" }, showlegend: false },
  );
}

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
  const { series, structure } = paletteOf(options);
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
      trace("branched", structure, "circle", (attempt) => attempt.branch),
      trace("did not", series[1]!, "x", (attempt) => !attempt.branch),
    ],
    {
      title: `Branch decisions by ${branchOf(tree.config).rule}`,
      x: "attempt",
      y: "score",
      description: `${attempts.length} attempts at a branch by ${branchOf(tree.config).rule}, ${made} of which branched.`,
    },
    options,
  );
}

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
  const { series, right, wrong } = paletteOf(options);
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
      marker: { color: i === 0 ? right : i === 1 ? wrong : series[(i + 2) % series.length] },
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
