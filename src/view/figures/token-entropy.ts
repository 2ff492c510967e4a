import { checkOptions } from "../../../arguments/check-options.js";
import { checkArguments } from "../../../arguments/check-arguments.js";
import type { Trajectory } from "../../rollout/tree/trajectory.js";
import {
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
        type: "scatter",
        mode: "lines",
        name: "entropy",
        x: y.map((_, t) => t),
        y,
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
