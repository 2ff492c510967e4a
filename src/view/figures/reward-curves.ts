import { checkOptions, texts } from "../../../arguments/check-options.js";
import { checkArguments } from "../../../arguments/check-arguments.js";
import {
  dashes,
  type Figure,
  type FigureOptions,
  figureRules,
  makeFigure,
  paletteOf,
  said,
} from "./figure.js";
import { curveOf, type RunMetrics } from "./metric-lines.js";

const usual = ["critic/score/mean", "critic/score/max", "critic/score/min"];

/**
 * A run's metrics over its steps: by default the scores.
 *
 * @param run the run's metrics, one record per step
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { describe, rewardCurves } from "arpo-lab/view";
 *
 * const lines = [0.25, 0.5].map((value, i) => ({ step: i + 1, "critic/score/mean": value }));
 * const run = { steps: lines.map(({ step, ...metrics }) => ({ step, metrics })) };
 * assert.equal(describe(rewardCurves(run)), describe(rewardCurves(lines)));
 * assert.equal(
 *   describe(rewardCurves(lines)),
 *   "critic/score/mean goes from 0.25 at step 1 to 0.5 at step 2.",
 * );
 * ```
 */
export function rewardCurves(
  run: RunMetrics,
  options: FigureOptions & {
    /** Which metrics are drawn. Default: the mean, the greatest and the smallest score. */
    metrics?: readonly string[];
  } = {},
): Figure {
  checkArguments("draw rewards", { run }, { run: "run" });
  checkOptions("draw rewards", options, { ...figureRules, metrics: texts });
  const { series } = paletteOf(options);
  const curves = (options.metrics ?? usual).flatMap((name) => {
    const points = curveOf(run, name);
    return points.length > 0 ? [{ name, points }] : [];
  });
  if (curves.length === 0) {
    const names = (options.metrics ?? usual).join(", ");
    throw new RangeError(`Cannot draw curves: the run must have one of ${names}, got none of them`);
  }
  const sentences = curves.map(({ name, points }) => {
    const [first, last] = [points[0]!, points.at(-1)!];
    return `${name} goes from ${said(first.value)} at step ${first.step} to ${said(last.value)} at step ${last.step}.`;
  });
  return makeFigure(
    curves.map(({ name, points }, i) => ({
      type: "scatter",
      mode: points.length === 1 ? "markers" : "lines",
      name,
      x: points.map(({ step }) => step),
      y: points.map(({ value }) => value),
      line: { color: series[i % series.length], dash: dashes[i % dashes.length] },
    })),
    { title: "Training", x: "step", y: "value", description: sentences.join(" ") },
    options,
  );
}
