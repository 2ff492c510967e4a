import type { Point } from "../../eval/metrics/interpolated.js";

/** The figures of one step of a run. */
export type Line = { step: number } & Record<string, unknown>;

/** What a curve of a run is over, and of what. */
export interface Measure {
  /** Default: tokens. */
  x?: "tokens" | "calls" | "trajectories" | "steps";
  /** Default: the held-out score, the mean over its sources. */
  metric?: string;
}

const number = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isFinite(value) ? value : undefined;

/** The value of a line: a metric, or the mean over the sources of the held-out scores. */
export function valueOf(
  line: Readonly<Record<string, unknown>>,
  metric?: string,
): number | undefined {
  if (metric !== undefined) return number(line[metric]);
  const found = Object.entries(line).flatMap(([name, value]) =>
    /^val-core\/.*\/mean@\d+$/.test(name) ? (number(value) ?? []) : [],
  );
  return found.length === 0 ? undefined : found.reduce((a, b) => a + b) / found.length;
}

/** A run's measurements, each with what the run had spent by then. */
export function measured(lines: readonly Line[], { x = "tokens", metric }: Measure = {}): Point[] {
  return lines.flatMap((line) => {
    const value = valueOf(line, metric);
    // A run has spent nothing before its first step.
    const spent = x === "steps" ? line.step : line.step === 0 ? 0 : number(line[`cost/${x}`]);
    return value === undefined || spent === undefined ? [] : [{ x: spent, value }];
  });
}
