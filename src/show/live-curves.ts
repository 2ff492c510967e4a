import { interpolated } from "../eval/metrics/interpolated.js";
import { plusMinus } from "../text/interval-text.js";
import { textCurve } from "../text/text-curve.js";
import { textTable } from "../text/text-table.js";

/** One of several curves: a mean, with its 95% interval where it is one over several seeds. */
export interface LiveCurve {
  name: string;
  /** Seeds that have come to its last place. */
  seeds: number;
  x: number[];
  y: number[];
  low: (number | null)[];
  high: (number | null)[];
}

/** Curves of work that goes on, on common axes. */
export interface LiveCurves {
  /** What they show, `held-out score`. */
  title: string;
  /** What they are over, `tokens`. */
  x: string;
  curves: LiveCurve[];
}

/** The last value of a curve, with half of its interval where it has one, and of how many seeds it is the mean. */
export function lastOf({ y, high, seeds }: LiveCurve): string {
  const [last, end] = [y.at(-1), high.at(-1) ?? null];
  if (last === undefined) return "not measured yet";
  const value = end === null ? String(Number(last.toPrecision(3))) : plusMinus(last, end - last);
  return `${value} (${seeds} ${seeds === 1 ? "seed" : "seeds"})`;
}

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
