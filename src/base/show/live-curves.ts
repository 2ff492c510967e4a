import { plusMinus } from "../text/interval-text.js";

/** One of several curves: a mean, with its 95% interval where it is one over several seeds. */
export interface LiveCurve {
  name: string;
  /** Seeds that have come to its last place. */
  seeds: number;
  x: number[];
  y: number[];
  low: (number | null)[];
  high: (number | null)[];
  /** Where such a mean can be. */
  range?: [low: number, high: number];
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
