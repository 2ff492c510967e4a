import { checkOptions } from "../../../arguments/check-options.js";
import { checkArguments } from "../../../arguments/check-arguments.js";
import { passAtK } from "../../eval/metrics/pass-at-k.js";
import {
  dashes,
  type Figure,
  type FigureOptions,
  figureRules,
  makeFigure,
  paletteOf,
  said,
} from "./figure.js";

/**
 * pass@k over k, the mean of the unbiased estimate over tasks: one curve per name.
 *
 * @param groups samples and right ones among them per task, by name
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { passAtKCurve } from "arpo-lab/view";
 *
 * const figure = passAtKCurve({ arpo: [{ n: 4, correct: 2 }, { n: 4, correct: 0 }] });
 * assert.deepEqual(figure.data[0].x, [1, 2, 3, 4]);
 * assert.equal((figure.data[0].y as number[])[0], 0.25);
 * ```
 */
export function passAtKCurve(
  groups: Readonly<Record<string, readonly { n: number; correct: number }[]>>,
  options: FigureOptions = {},
): Figure {
  checkArguments("draw pass@k", { groups }, { groups: "object" });
  checkOptions("draw pass@k", options, figureRules);
  const { series } = paletteOf(options);
  const curves = Object.entries(groups).map(([name, tasks]) => {
    if (tasks.length === 0) {
      throw new RangeError(`Cannot draw pass@k: ${name} must have a task, got none`);
    }
    const most = Math.min(...tasks.map(({ n }) => n));
    const x = Array.from({ length: most }, (_, i) => i + 1);
    const mean = (k: number) =>
      tasks.reduce((sum, { n, correct }) => sum + passAtK({ n, correct, k }), 0) / tasks.length;
    return { name, x, y: x.map(mean) };
  });
  const counts = [...new Set(Object.values(groups).map((tasks) => tasks.length))];
  const over = `${counts.join(" or ")} task${counts.length === 1 && counts[0] === 1 ? "" : "s"}`;
  const words = curves.map(
    ({ name, x, y }) =>
      `${name} rises from ${said(y[0]!)} at k = 1 to ${said(y.at(-1)!)} at k = ${x.at(-1)}`,
  );
  return makeFigure(
    curves.map(({ name, x, y }, i) => ({
      type: "scatter",
      mode: "lines+markers",
      name,
      x,
      y,
      line: { color: series[i % series.length], dash: dashes[i % dashes.length] },
    })),
    {
      title: "pass@k",
      x: "k",
      y: "chance that one of k is right",
      description: `pass@k over ${over}: ${words.join("; ")}.`,
    },
    options,
    { yaxis: { range: [0, 1.02] } },
  );
}
