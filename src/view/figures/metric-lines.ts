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

const titles: Readonly<Record<string, string>> = {
  "critic/score/mean": "mean score",
  "actor/entropy_loss": "entropy, nats",
  "actor/ppo_kl": "KL in the update",
  "actor/kl_loss": "KL from the reference",
  "actor/pg_loss": "policy loss",
  "actor/pg_clipfrac": "share of clipped tokens",
  "actor/grad_norm": "gradient norm",
  "response_length/mean": "tokens of a response",
};

/** What a metric is called on an axis; its key where it has no other name. */
export const metricTitle = (metric: string): string => titles[metric] ?? metric;
