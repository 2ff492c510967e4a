import { checkOptions } from "../../../arguments/check-options.js";
import { checkArguments } from "../../../arguments/check-arguments.js";
import { studentInterval } from "../../eval/metrics/interval.js";
import { plusMinus } from "../../text/interval-text.js";
import {
  dashes,
  type Figure,
  type FigureOptions,
  figureRules,
  makeFigure,
  paletteOf,
  said,
} from "./figure.js";
import { curveOf, metricTitle, type RunMetrics } from "./metric-lines.js";

/**
 * Runs side by side: for each name the mean over its seeds at every step that all of them have, and
 * the mean's 95% confidence interval (Student's t).
 *
 * @param runs the metrics of every seed, by the setting's name
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { compareRuns, describe } from "arpo-lab/view";
 *
 * const seed = (value: number) => [{ step: 1, "critic/score/mean": value }];
 * const figure = compareRuns({ arpo: [seed(0.4), seed(0.6)], grpo: [seed(0.3)] });
 * assert.equal(
 *   describe(figure),
 *   "critic/score/mean at the last step: arpo 0.5 ± 1.3 (2 seeds, 95%), grpo 0.3 (1 seed, no interval).",
 * );
 * ```
 */
export function compareRuns(
  runs: Readonly<Record<string, readonly RunMetrics[]>>,
  options: FigureOptions & {
    /** Which metric is drawn. Default: `critic/score/mean`. */
    metric?: string;
  } = {},
): Figure {
  checkArguments("compare runs", { runs }, { runs: "object" });
  checkOptions("compare runs", options, { ...figureRules, metric: "text?" });
  const { metric = "critic/score/mean" } = options;
  const { series } = paletteOf(options);
  const data: Record<string, unknown>[] = [];
  const words: string[] = [];
  for (const [i, [name, seeds]] of Object.entries(runs).entries()) {
    const byStep = new Map<number, number[]>();
    for (const run of seeds) {
      for (const { step, value } of curveOf(run, metric)) {
        byStep.set(step, [...(byStep.get(step) ?? []), value]);
      }
    }
    // A mean over fewer seeds than its neighbours would jump for no reason.
    const x = [...byStep.keys()]
      .filter((step) => byStep.get(step)!.length === seeds.length)
      .sort((a, b) => a - b);
    if (x.length === 0) {
      throw new RangeError(
        `Cannot compare runs: the seeds of ${name} must share a step with ${metric}, got none`,
      );
    }
    const points = x.map((step) => studentInterval(byStep.get(step)!));
    const color = series[i % series.length]!;
    const y = points.map(({ mean }) => mean);
    const style = { type: "scatter", mode: "lines", x, legendgroup: name };
    data.push({ ...style, y, name, line: { color, dash: dashes[i % dashes.length]! } });
    const last = points.at(-1)!;
    if (seeds.length > 1) {
      const edge = { ...style, showlegend: false, line: { color, width: 0 }, hoverinfo: "skip" };
      const fillcolor = `${color}33`;
      data.push(
        { ...edge, name: `${name}, low`, y: points.map((p) => p.mean - p.half) },
        {
          ...edge,
          ...{ name: `${name}, high`, y: points.map((p) => p.mean + p.half) },
          ...{ fill: "tonexty", fillcolor },
        },
      );
    }
    words.push(
      seeds.length > 1
        ? `${name} ${plusMinus(last.mean, last.half)} (${seeds.length} seeds, 95%)`
        : `${name} ${said(last.mean)} (1 seed, no interval)`,
    );
  }
  return makeFigure(
    data,
    {
      title: metricTitle(metric),
      x: "step",
      y: metricTitle(metric),
      description: `${metric} at the last step: ${words.join(", ")}.`,
    },
    options,
  );
}
