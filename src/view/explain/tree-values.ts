import type { TrainingBatch } from "../../learn/batch.js";

/** What a critic expects before each token: the batch's own, or what its trees themselves say. */
export interface CriticValues {
  values: Float64Array[];
  /** True where a critic gave them. */
  learned: boolean;
}

/**
 * A critic's values of a batch. Where it has none, the mean score of the rows that have the same tokens up
 * to there: what a critic would say that knew these trees and nothing else.
 */
export function criticValues(batch: TrainingBatch): CriticValues {
  const { rows } = batch;
  if (rows.length > 0 && rows.every((row) => row.values !== undefined)) {
    return { values: rows.map((row) => Float64Array.from(row.values!)), learned: true };
  }
  const mean = (of: typeof rows) => of.reduce((sum, { reward }) => sum + reward, 0) / of.length;
  const values = rows.map(({ trajectory, group }) => {
    const tree = batch.scored?.trees.find(({ index }) => index === trajectory.tree);
    const out = new Float64Array(trajectory.tokens.length);
    // Before its first token a row is its prompt alone, as are all rows of its group.
    out[0] = mean(rows.filter((row) => row.group === group));
    let start = 0;
    const nodes = tree ? trajectory.nodes : [];
    nodes.forEach((node) => {
      const length = tree!.nodes[node]!.tokens.length;
      const same = rows.filter(
        (row) => row.trajectory.tree === trajectory.tree && row.trajectory.nodes.includes(node),
      );
      // From its second token on a segment is known; the token behind its last is the next one's first.
      out.fill(mean(same), start + 1, start + length + 1);
      start += length;
    });
    // Without a tree every row is its own from its first token on.
    if (nodes.length === 0) out.fill(mean(rows.filter((row) => row.trajectory === trajectory)), 1);
    return out;
  });
  return { values, learned: false };
}
