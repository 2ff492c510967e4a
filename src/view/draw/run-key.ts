import { svgElement } from "../page/element.js";
import { runMark } from "./run-mark.js";

/** A run's line and mark, as a legend shows them. */
export function runKey(run: number, series: readonly string[]): SVGElement {
  const colour = series[run % series.length]!;
  const line = svgElement("path", { d: "M0 5.5H14", stroke: colour, "stroke-width": 2 });
  const mark = svgElement("path", { d: runMark(run, 7, 5.5, 3.6), fill: colour });
  return svgElement("svg", { "aria-hidden": "true", class: "arpo-key" }, line, mark);
}
