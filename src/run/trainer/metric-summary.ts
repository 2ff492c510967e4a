import type { TrainingBatch } from "../../learn/batch.js";
import type { Scored } from "../../reward/scored.js";

/** Mean, greatest and least of some figures under one name. */
function spread(name: string, values: readonly number[]): Record<string, number> {
  if (values.length === 0) return {};
  let [sum, max, min] = [0, -Infinity, Infinity];
  for (const value of values) {
    sum += value;
    max = Math.max(max, value);
    min = Math.min(min, value);
  }
  return { [`${name}/mean`]: sum / values.length, [`${name}/max`]: max, [`${name}/min`]: min };
}

/** What a batch looks like, under the reference's names. */
export function batchMetrics(
  scored: Scored,
  batch: TrainingBatch,
  responseLimit: number,
): Record<string, number> {
  const trained = (pick: (row: TrainingBatch["rows"][number]) => Float32Array) =>
    batch.rows.flatMap((row) =>
      Array.from(pick(row)).filter((_, t) => row.trajectory.lossMask[t] === 1),
    );
  const lengths = scored.rows.map(({ trajectory }) => trajectory.tokens.length);
  const cut = lengths.filter((length) => length >= responseLimit).length;
  const parts = new Map<string, number[]>();
  for (const { score } of scored.rows) {
    for (const [name, value] of Object.entries(score.parts ?? {})) {
      parts.set(name, [...(parts.get(name) ?? []), value]);
    }
  }
  const means = [...parts].map(([name, values]): [string, number] => [
    `reward/${name}/mean`,
    values.reduce((a, b) => a + b, 0) / values.length,
  ]);
  return {
    ...spread(
      "critic/score",
      scored.rows.map(({ score }) => score.score),
    ),
    ...spread(
      "critic/rewards",
      batch.rows.map(({ reward }) => reward),
    ),
    ...spread(
      "critic/advantages",
      trained((row) => row.advantages),
    ),
    ...spread(
      "critic/returns",
      trained((row) => row.returns),
    ),
    ...spread("response_length", lengths),
    "response_length/clip_ratio": cut / lengths.length,
    "tools/calls_per_sample":
      scored.rows.reduce((sum, { trajectory }) => sum + trajectory.toolCalls.length, 0) /
      lengths.length,
    ...spread(
      "prompt_length",
      scored.rows.map(({ trajectory }) => trajectory.prompt.length),
    ),
    ...Object.fromEntries(means),
  };
}
