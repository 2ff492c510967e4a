import { checkArguments } from "../../../common/options/check-arguments.js";
import { checkOptions } from "../../../common/options/check-options.js";
import { neutral } from "../../../common/picture/grey.js";
import { pageGround } from "../../../common/picture/palette.js";
import type { TrainingBatch } from "../../learn/batch.js";
import { clipBounds } from "../../learn/losses/base/options.js";
import type { ClipRegion } from "../../learn/losses/base/token-rule.js";
import type { UpdateReport } from "../../learn/update/update-report.js";
import {
  colorscale,
  type Figure,
  type FigureOptions,
  figureRules,
  makeFigure,
  paletteOf,
  said,
} from "./figure.js";

const allRegions: [ClipRegion, string][] = [
  ["inside", "inside the bounds"],
  ["above", "above, A > 0"],
  ["below", "below, A < 0"],
  ["dual", "dual clip"],
  ["chosen", "chosen by the loss"],
  ["dropped", "left out"],
];
const symbols = ["circle", "triangle-up", "triangle-down", "x", "diamond", "cross"];

/**
 * The ratio and the advantage of every trained token, by what clipping did to it.
 *
 * @param report the report, from `update`
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { TrainingBatch, UpdateReport } from "arpo-lab/learn";
 * import { clipScatter, describe } from "arpo-lab/view";
 *
 * const report = new UpdateReport({}, new TrainingBatch([], "grpo"), {}, 0);
 * assert.match(describe(clipScatter(report)), /^0 trained tokens/);
 * ```
 */
export function clipScatter(report: UpdateReport, options: FigureOptions = {}): Figure {
  checkArguments("draw clipping", { report }, { report: { batch: "object" } });
  checkOptions("draw clipping", options, figureRules);
  const { series } = paletteOf(options);
  const points = report.batch.trajectories.flatMap((row) =>
    report
      .tokens(row)
      .flatMap((token, t) => (token ? [{ ...token, advantage: row.advantages[t]! }] : [])),
  );
  const lost = points.filter((point) => point.weight === 0).length;
  // Only some losses choose tokens, or leave a trajectory or a turn out.
  const regions = allRegions.filter(
    ([region], i) => i < 4 || points.some((point) => point.region === region),
  );
  const counts = regions.map(([region]) => points.filter((p) => p.region === region).length);
  const { low, high } = clipBounds(report.options);
  const sizes = points.map(({ advantage }) => advantage);
  const ends = [Math.min(0, ...sizes), Math.max(0, ...sizes)];
  const bound = (ratio: number, name: string) => ({
    ...{ type: "scatter", mode: "lines", name, x: [ratio, ratio], y: ends },
    line: { color: neutral, width: 1.5, dash: "dash" },
  });
  const bounds = [bound(low, `bound ${said(low)}`), bound(high, `bound ${said(high)}`)];
  return makeFigure(
    [
      ...bounds,
      ...regions.map(([region, name], i) => {
        const own = points.filter((point) => point.region === region);
        return {
          type: "scatter",
          mode: "markers",
          name,
          x: own.map((point) => point.ratio),
          y: own.map((point) => point.advantage),
          marker: { color: series[i], symbol: symbols[i] },
        };
      }),
    ],
    {
      title: "What clipping did to each token",
      x: "ratio, log scale",
      y: "advantage",
      description: `${points.length} trained tokens: ${regions.map(([, name], i) => `${counts[i]} ${name}`).join(", ")}; ${lost} have no gradient. The bounds are ${said(low)} and ${said(high)}.`,
    },
    options,
    { xaxis: { type: "log" } },
  );
}

/**
 * The advantage of every trained token: one row per trajectory. Tokens of tools stay empty.
 *
 * @param batch the batch to show
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { TrainingBatch } from "arpo-lab/learn";
 * import { advantageHeat } from "arpo-lab/view";
 *
 * assert.deepEqual(advantageHeat(new TrainingBatch([], "grpo")).data[0].z, []);
 * ```
 */
export function advantageHeat(batch: TrainingBatch, options: FigureOptions = {}): Figure {
  checkArguments("draw advantages", { batch }, { batch: { trajectories: "list" } });
  checkOptions("draw advantages", options, figureRules);
  const z = batch.trajectories.map(({ advantages, trajectory }) =>
    Array.from(advantages, (value, t) => (trajectory.lossMask[t] ? value : NaN)),
  );
  const values = z.flat().filter((value) => !Number.isNaN(value));
  const reach = values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  const side = (sign: number) => {
    const own = values.filter((value) => value * sign > 0).sort((a, b) => a - b);
    const middle = own[Math.floor(own.length / 2)];
    return `${own.length}${middle === undefined ? "" : ` (median ${said(middle)})`}`;
  };
  // Not by colour alone: a dotted line lies on what is made less likely.
  const less = { x: [] as (number | null)[], y: [] as (number | null)[] };
  z.forEach((row, r) => {
    row.forEach((value, t) => {
      if (!(value < 0)) return;
      const begins = !(row[t - 1]! < 0);
      const ends = !(row[t + 1]! < 0);
      if (begins) less.x.push(t - 0.4);
      if (ends) less.x.push(t + 0.4, null);
      less.y.push(...(begins ? [r] : []), ...(ends ? [r, null] : []));
    });
  });
  const dotted = {
    ...{ type: "scatter", mode: "lines", name: "made less likely", showlegend: false, ...less },
    line: { dash: "dot", width: 1.5, color: paletteOf(options).ink ?? pageGround.light.ink },
    hoverinfo: "skip",
  };
  return makeFigure(
    [
      {
        type: "heatmap",
        z,
        zmin: -reach,
        zmax: reach,
        colorscale: colorscale(paletteOf(options).diverging),
        colorbar: { title: { text: "advantage" } },
        text: batch.trajectories.map(
          ({ group, trajectory }) => `task ${group}, trajectory ${trajectory.id}`,
        ),
      },
      ...(less.x.length > 0 ? [dotted] : []),
    ],
    {
      title: `Advantages by ${batch.estimator}`,
      x: `token of the response${less.x.length > 0 ? " (dotted line: made less likely)" : ""}`,
      y: "trajectory",
      description: `${batch.trajectories.length} trajectories with ${values.length} trained tokens: ${side(1)} are made more likely, ${side(-1)} less likely, the strongest by ${said(reach)}.`,
    },
    options,
    { yaxis: { autorange: "reversed" } },
  );
}
