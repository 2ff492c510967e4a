import { figurePicture } from "../../../common/picture/picture.js";
import type { FigureLike } from "../../../common/picture/figure-like.js";
import { checkArguments } from "../../../common/options/check-arguments.js";
import { formOf, isFigure, type LaterView, type SelfShown } from "./shown.js";

/**
 * A figure, or anything that shows itself in a view, as a picture that needs no browser. A board reads its
 * runs first: `await toSvg(board("runs/x"))`.
 *
 * @param value a figure, or a value that shows itself
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { passAtKCurve, toSvg } from "arpo-lab/view";
 *
 * const figure = passAtKCurve({ tiny: [{ n: 2, correct: 1 }] }, { theme: "colour-blind" });
 * assert.match(toSvg(figure), /^<svg .*<desc>pass@k over 1 task/s);
 * ```
 */
export function toSvg(value: LaterView): Promise<string>;
/** @param value a figure, or a value that shows itself */
export function toSvg(value: FigureLike | SelfShown): string;
/** @param value a figure, or a value that shows itself */
export function toSvg(value: FigureLike | SelfShown | LaterView): string | Promise<string>;
export function toSvg(value: FigureLike | SelfShown | LaterView): string | Promise<string> {
  checkArguments("make an SVG", { value }, { value: "object" });
  if (!isFigure(value)) {
    const picture = formOf(value, "image/svg+xml");
    return picture instanceof Promise ? picture.then(checked) : checked(picture);
  }
  checkArguments("make an SVG", { value }, { value: { data: "list", layout: "object" } });
  // Figures of curves bring their own.
  const own = formOf(value, "image/svg+xml");
  const picture = typeof own === "string" ? own : figurePicture(value);
  if (picture === undefined) {
    const types = [...new Set(value.data.map(({ type = "scatter" }) => JSON.stringify(type)))];
    throw new TypeError(
      `Cannot draw a figure: its traces must be lines, points, bars, histograms or heat maps on one pair of axes, got ${types.join(", ") || "none"}`,
    );
  }
  return picture;
}

function checked(picture: string | undefined): string {
  if (picture !== undefined) return picture;
  throw new TypeError(
    "Cannot make an SVG: the value must be a figure or show itself with a picture, got one without",
  );
}
