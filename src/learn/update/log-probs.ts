import type { PreparedRow, ScoredRow } from "../batch.js";
import { measureRows, type RowMeasures } from "./trainee.js";
import type { Reference, UpdateSettings } from "./update-settings.js";
import type { PassRow } from "./passes.js";

/** ln p and entropy of every response token under a frozen policy. */
export async function measureReference(
  reference: Reference,
  rows: readonly PassRow[],
  settings: UpdateSettings,
): Promise<RowMeasures> {
  if ("weights" in reference) return measureRows(reference, rows, settings);
  const said = await reference.logProbs(
    rows.map(({ trajectory: { prompt, tokens } }) => ({ prompt, tokens })),
    { temperature: settings.temperature },
  );
  return {
    logprobs: said.map(({ logprobs }) => logprobs),
    entropies: said.map(({ entropies }) => entropies),
  };
}

// The log-probabilities that a policy gave its tokens when it drew them are those an update needs from
// before it, up to how a decoder and a training pass round: a pass over all trajectories is saved.

/** Whether the policy that trains wrote all that is trained of a trajectory, and said how likely it was. */
export function hasReusableLogProbs({ trajectory }: ScoredRow): boolean {
  if (trajectory.sampler !== undefined) return false;
  const { lossMask, logprobs, entropies } = trajectory;
  return lossMask.every(
    (trained, t) => !trained || (Number.isFinite(logprobs[t]) && Number.isFinite(entropies[t])),
  );
}

/** The trajectory with what it said; where nothing is trained there may be nothing, which counts as 0. */
export function withReusedLogProbs<R extends ScoredRow>(row: R): R & PreparedRow {
  const known = (values: Float32Array) => values.map((x) => (Number.isFinite(x) ? x : 0));
  return Object.assign(row, {
    oldLogprobs: known(row.trajectory.logprobs),
    entropies: known(row.trajectory.entropies),
    oldFrom: "rollout" as const,
  });
}

/** The share of trajectories whose log-probabilities are the rollout's. */
export const reusedShare = (rows: readonly Pick<PreparedRow, "oldFrom">[]): number =>
  rows.filter(({ oldFrom }) => oldFrom === "rollout").length / rows.length;
