/** One validation answer's score. */
interface ValidationScore {
  dataSource: string;
  /** Answers to the same question share it. */
  question: string;
  score: number;
}

/** Expected greatest (or least) of k draws with replacement: the bootstrap's limit, without its noise. */
function expectedBest(sorted: readonly number[], k: number): number {
  const n = sorted.length;
  return sorted.reduce((sum, value, i) => sum + value * (((i + 1) / n) ** k - (i / n) ** k), 0);
}

const mean = (values: readonly number[]) => values.reduce((a, b) => a + b, 0) / values.length;

/**
 * Validation figures per data source, under the reference's names: mean@N, std@N, and for N above 1
 * best@k and worst@k for k = 2, 4, …, N.
 */
export function validationMetrics(rows: readonly ValidationScore[]): Record<string, number> {
  const metrics: Record<string, number> = {};
  for (const source of [...new Set(rows.map((row) => row.dataSource))].sort()) {
    const questions = new Map<string, number[]>();
    for (const { dataSource, question, score } of rows) {
      if (dataSource !== source) continue;
      questions.set(question, [...(questions.get(question) ?? []), score]);
    }
    const groups = [...questions.values()].map((scores) => [...scores].sort((a, b) => a - b));
    const n = Math.max(...groups.map((g) => g.length));
    const core = `val-core/${source}/reward`;
    const aux = `val-aux/${source}/reward`;
    metrics[`${core}/mean@${n}`] = mean(groups.map(mean));
    if (n === 1) continue;
    metrics[`${aux}/std@${n}`] = mean(
      groups.map((g) => Math.sqrt(mean(g.map((v) => (v - mean(g)) ** 2)))),
    );
    for (let k = 2; ; k *= 2) {
      const size = Math.min(k, n);
      const place = size === n ? core : aux;
      metrics[`${place}/best@${size}/mean`] = mean(groups.map((g) => expectedBest(g, size)));
      metrics[`${aux}/worst@${size}/mean`] = mean(
        groups.map((g) => expectedBest([...g].reverse(), size)),
      );
      if (size === n) break;
    }
  }
  return metrics;
}
