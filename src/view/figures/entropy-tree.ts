import { checkOptions } from "../../../arguments/check-options.js";
import { checkArguments } from "../../../arguments/check-arguments.js";
import type { RolloutTree } from "../../rollout/rollout-tree.js";
import {
  colorscale,
  type Figure,
  type FigureOptions,
  figureRules,
  makeFigure,
  paletteOf,
  said,
} from "./figure.js";

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
        colorscale: colorscale(palette.sequential),
        colorbar: { title: { text: "entropy" } },
        hovertemplate: "trajectory %{y}, token %{x}: entropy %{z:.3f}<extra></extra>",
      },
      {
        type: "scatter",
        mode: "lines",
        name: "branches",
        x,
        y,
        line: { color: palette.series[0] },
        hoverinfo: "skip",
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
