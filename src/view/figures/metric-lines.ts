/** One step's metrics, as a run folder keeps them. */
export type MetricLine = { step: number } & Record<string, unknown>;

/** A training run's metrics: lines of a run folder, or a run made in a cell. */
export type RunMetrics =
  | readonly MetricLine[]
  | { readonly steps: readonly { step: number; metrics: Readonly<Record<string, number>> }[] };

/** One metric over the steps that have it. */
export function curveOf(run: RunMetrics, metric: string): { step: number; value: number }[] {
  const lines: readonly MetricLine[] =
    "steps" in run ? run.steps.map(({ step, metrics }) => ({ ...metrics, step })) : run;
  return lines.flatMap((line) => {
    const value = line[metric];
    return typeof value === "number" && Number.isFinite(value) ? [{ step: line.step, value }] : [];
  });
}
