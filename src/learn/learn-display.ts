import type { TrainingBatch } from "./batch.js";
import type { UpdateReport } from "./update-report.js";

/**
 * How batches and reports show themselves: as plain tables, until `arpo-lab/view` is loaded (`arpo-lab`
 * loads it) and puts its token views here. Learning knows nothing of views.
 */
export const learnDisplay: {
  batch: (batch: TrainingBatch) => Record<string, string>;
  report: (report: UpdateReport) => Record<string, string>;
} = { batch: showBatch, report: showReport };

/** A batch as a table, one line per row. */
export function showBatch(batch: TrainingBatch): Record<string, string> {
  const lines = batch.rows.map(({ trajectory, group, reward, advantages }) => {
    const own = advantages.filter((_, t) => trajectory.lossMask[t]);
    const low = own.reduce((a, b) => Math.min(a, b), Infinity);
    const high = own.reduce((a, b) => Math.max(a, b), -Infinity);
    const range = low === high ? low.toFixed(3) : `${low.toFixed(3)} to ${high.toFixed(3)}`;
    return `${group}\t${trajectory.row}\t${reward.toFixed(3)}\t${range}\t${own.length}`;
  });
  const title = `${batch.rows.length} rows, ${batch.tokens} trained tokens, advantages by ${batch.estimator}`;
  return { "text/plain": [title, "task\trow\treward\tadvantage\ttokens", ...lines].join("\n") };
}

/** A report as a table of its metrics. */
export function showReport({ metrics, skippedSteps }: UpdateReport): Record<string, string> {
  const lines = Object.entries(metrics).map(
    ([name, value]) => `${name}\t${Number(value.toPrecision(5))}`,
  );
  if (skippedSteps > 0) {
    lines.push(`${skippedSteps} steps skipped: their gradient was not finite`);
  }
  return { "text/plain": lines.join("\n") };
}
