import { interpolated } from "../../eval/metrics/interpolated.js";
import { lastOf, type LiveCurves } from "../../base/show/live-curves.js";
import { textCurve } from "../../base/text/text-curve.js";
import { textTable } from "../../base/text/text-table.js";

const width = 24;

/** Curves in lines of text: bars at equal places of a common axis. */
export function curvesText({ title, x: axis, curves }: LiveCurves): string {
  const xs = curves.flatMap(({ x }) => x);
  const ys = curves.flatMap(({ y }) => y);
  const [from, to] = [Math.min(...xs), Math.max(...xs)];
  const scale = { low: Math.min(...ys), high: Math.max(...ys), width };
  const places = Array.from({ length: width }, (_, i) => from + ((to - from) * i) / (width - 1));
  const rows = curves.map((curve) => {
    const { name, x, y } = curve;
    const points = x.map((at, i) => ({ x: at, value: y[i]! }));
    const values = places.flatMap((place) => interpolated(points, place) ?? []);
    return [name, textCurve(values, scale).padEnd(width), lastOf(curve)];
  });
  const ends = `${from.toLocaleString("en")} to ${to.toLocaleString("en")} ${axis}`;
  return `${title}, ${ends}, mean of the seeds so far\n${textTable(rows, "left")}`;
}
