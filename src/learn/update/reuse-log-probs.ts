import type { Model } from "../../model/transformer/transformer.js";
import { drawnBy } from "../../rollout/tree/drawn-by.js";
import { type PreparedSequence, saidLogprobs, type ScoredSequence } from "../batch.js";
import { bypassMeasuring, type CorrectionSettings } from "../correction/rollout-correction.js";
import { settingsOf } from "../losses/base/definition.js";
import { lossOf } from "../losses/registry.js";
import { requireFinite } from "../masked.js";
import { isStale } from "../staleness.js";
import type { UpdateSettings } from "./update-settings.js";

// The log-probabilities that a policy gave its tokens when it drew them are those an update needs from
// before it, up to how a decoder and a training pass round: a pass over all trajectories is saved.

/** Whether this process knows that a trajectory was drawn from the weights of now, as an update reads them. */
function isOfNow(
  { trajectory: { logprobs } }: ScoredSequence,
  model: Model | undefined,
  temperature: number,
): boolean {
  const drawn = drawnBy(logprobs);
  return (
    drawn !== undefined &&
    drawn.model === model &&
    drawn.version === model.version &&
    drawn.temperature === temperature
  );
}

/** Which trajectories' log-probabilities an update takes as the rollout said them; undefined: of none. */
export function reuseOf(
  { reuseLogProbs: asked, temperature }: UpdateSettings,
  correction: CorrectionSettings | undefined,
  model: Model | undefined,
): ((sequence: ScoredSequence) => boolean) | undefined {
  if (asked === false || correction) return undefined;
  return (sequence) =>
    (asked === true || isOfNow(sequence, model, temperature)) && hasReusableLogProbs(sequence);
}

/** Whether the policy that trains wrote all that is trained of a trajectory, and said how likely it was. */
function hasReusableLogProbs(sequence: ScoredSequence): boolean {
  const { trajectory } = sequence;
  if (trajectory.sampler !== undefined || isStale(sequence)) return false;
  const { lossMask, logprobs, entropies } = trajectory;
  return lossMask.every(
    (trained, t) => !trained || (Number.isFinite(logprobs[t]) && Number.isFinite(entropies[t])),
  );
}

/** What the rollout said, where that is reusable; the other trajectories are measured. */
export async function reuseSaid<R extends ScoredSequence>(
  sequences: readonly R[],
  reusable: ((sequence: R) => boolean) | undefined,
  measure: (others: readonly R[]) => Promise<(R & PreparedSequence)[]>,
): Promise<(R & PreparedSequence)[]> {
  const others = sequences.filter((sequence) => !reusable?.(sequence));
  const found = others.length > 0 ? await measure(others) : [];
  const measured = new Map(others.map((sequence, i) => [sequence, found[i]!]));
  return sequences.map((sequence) => measured.get(sequence) ?? withReusedLogProbs(sequence));
}

/** The trajectory with what it said; where nothing is trained there may be nothing, which counts as 0. */
function withReusedLogProbs<R extends ScoredSequence & Pick<PreparedSequence, "oldOver">>(
  sequence: R,
): R & PreparedSequence {
  const known = (values: Float32Array) => values.map((x) => (Number.isFinite(x) ? x : 0));
  return Object.assign(sequence, {
    oldLogprobs: known(saidLogprobs(sequence)),
    entropies: known(sequence.trajectory.entropies),
    oldFrom: "rollout" as const,
  });
}

/** The share of trajectories whose log-probabilities are the rollout's, where that was asked for or is any. */
export function reusedFigures(
  sequences: readonly Pick<PreparedSequence, "oldFrom">[],
  { reuseLogProbs: asked }: UpdateSettings,
): Record<string, number> {
  const reused = sequences.filter(({ oldFrom }) => oldFrom === "rollout").length;
  return asked || reused > 0 ? { "actor/reused_log_probs": reused / sequences.length } : {};
}

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
