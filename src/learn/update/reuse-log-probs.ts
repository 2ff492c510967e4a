import { type PreparedSequence, saidLogprobs, type ScoredSequence } from "../batch.js";
import { bypassMeasuring, type CorrectionSettings } from "../correction/rollout-correction.js";
import { settingsOf } from "../losses/base/definition.js";
import { lossOf } from "../losses/registry.js";
import { requireFinite } from "../masked.js";
import { isStale } from "../staleness.js";
import type { UpdateSettings } from "./update-settings.js";

// The log-probabilities that a policy gave its tokens when it drew them are those an update needs from
// before it, up to how a decoder and a training pass round: a pass over all trajectories is saved.

/** Whether the policy that trains wrote all that is trained of a trajectory, and said how likely it was. */
export function hasReusableLogProbs(sequence: ScoredSequence): boolean {
  const { trajectory } = sequence;
  if (trajectory.sampler !== undefined || isStale(sequence)) return false;
  const { lossMask, logprobs, entropies } = trajectory;
  return lossMask.every(
    (trained, t) => !trained || (Number.isFinite(logprobs[t]) && Number.isFinite(entropies[t])),
  );
}

/** The trajectory with what it said; where nothing is trained there may be nothing, which counts as 0. */
export function withReusedLogProbs<R extends ScoredSequence & Pick<PreparedSequence, "oldOver">>(
  sequence: R,
): R & PreparedSequence {
  const known = (values: Float32Array) => values.map((x) => (Number.isFinite(x) ? x : 0));
  return Object.assign(sequence, {
    oldLogprobs: known(saidLogprobs(sequence)),
    entropies: known(sequence.trajectory.entropies),
    oldFrom: "rollout" as const,
  });
}

/** The share of trajectories whose log-probabilities are the rollout's. */
export const reusedShare = (sequences: readonly Pick<PreparedSequence, "oldFrom">[]): number =>
  sequences.filter(({ oldFrom }) => oldFrom === "rollout").length / sequences.length;

/** Whether what the sampler said stands for log-probabilities from before the update: for a correction, or a loss. */
export const saysEnough = (
  settings: UpdateSettings,
  correction: CorrectionSettings | undefined,
): boolean =>
  correction?.bypass !== undefined ||
  (lossOf(settings).unmeasured?.(settingsOf(lossOf(settings), settings)) ?? false);

/** Takes what the sampler said for what was measured before the update. */
export function takeSaid<R extends ScoredSequence & Pick<PreparedSequence, "oldOver">>(
  sequences: readonly R[],
  correction: CorrectionSettings | undefined,
): (R & PreparedSequence)[] {
  // A correction leaves out what nobody said; a loss has nothing else to go by.
  if (!correction?.bypass) {
    requireFinite("update", "what the sampler said", sequences.map(saidLogprobs), {
      mask: sequences.map(({ trajectory }) => trajectory.lossMask),
      nameOf: (i) => `trajectory ${sequences[i]!.trajectory.id} of ${sequences[i]!.group}`,
    });
  }
  return bypassMeasuring(sequences);
}
