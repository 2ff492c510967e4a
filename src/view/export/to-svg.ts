import { checkArguments } from "../../arguments/check-arguments.js";
import type { FigureLike } from "../../../picture/figure-like.js";
import { figurePicture } from "../../../picture/picture.js";

/**
 * A figure as a picture that needs no browser: lines, points, bars, histograms and heat maps.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { passAtKCurve, toSvg } from "arpo-lab/view";
 *
 * const figure = passAtKCurve({ tiny: [{ n: 2, correct: 1 }] }, { theme: "colour-blind" });
 * assert.match(toSvg(figure), /^<svg .*<desc>pass@k over 1 task/s);
 * ```
 */
export function toSvg(figure: FigureLike): string {
  checkArguments("make an SVG", { figure }, { figure: { data: "list", layout: "object" } });
  const picture = figurePicture(figure);
  if (picture === undefined) {
    const types = [...new Set(figure.data.map(({ type = "scatter" }) => JSON.stringify(type)))];
    throw new TypeError(
      `Cannot draw a figure: its traces must be lines, points, bars, histograms or heat maps on one pair of axes, got ${types.join(", ") || "none"}`,
    );
  }
  return picture;
}
