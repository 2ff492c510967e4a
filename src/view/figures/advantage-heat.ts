import { checkOptions } from "../../../arguments/check-options.js";
import { checkArguments } from "../../../arguments/check-arguments.js";
import type { TrainingBatch } from "../../learn/batch.js";
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
  const line = { dash: "dot", width: 1.5, color: paletteOf(options).ink ?? "#333333" };
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
      ...(less.x.length > 0
        ? [
            {
              type: "scatter",
              mode: "lines",
              name: "made less likely",
              showlegend: false,
              ...less,
              line,
              hoverinfo: "skip",
            },
          ]
        : []),
    ],
    {
      title: `Advantages by ${batch.estimator}`,
      x:
        less.x.length > 0
          ? "token of the response (dotted line: made less likely)"
          : "token of the response",
      y: "trajectory",
      description: `${batch.trajectories.length} trajectories with ${values.length} trained tokens: ${side(1)} are made more likely, ${side(-1)} less likely, the strongest by ${said(reach)}.`,
    },
    options,
    { yaxis: { autorange: "reversed" } },
  );
}
