import { defined } from "../arguments/defined.js";
import { Random } from "../random/random.js";
import type { tf } from "../tensor/tf.js";
import { type BatchRow, type PreparedRow, trainedMask } from "./batch.js";
import { bypassWeights } from "./correction/bypass-weights.js";
import type { CorrectionSettings } from "./correction/rollout-correction.js";
import type { ActorLossInput } from "./loss/losses.js";
import { drawsOf } from "./loss/tensor-ops.js";
import type { LossName } from "./loss/registry.js";
import { turnsOf } from "./loss/token-rule.js";
import { type PassLogProbs, spreadOver } from "./token-passes.js";
import type { UpdateSettings } from "./update-settings.js";

/** A row that an optimiser step may be made from. */
export type ReadyRow = PreparedRow & BatchRow;

/** Everything that a loss may ask for of the rows of a pass. Call inside a tidy. */
export function lossInput(
  group: readonly ReadyRow[],
  { logprobs, entropies }: PassLogProbs,
  settings: UpdateSettings,
  correction: CorrectionSettings | undefined,
  random: Random,
): ActorLossInput {
  const { entropyCoefficient = 0, entropyAdvantageNeedsBonus: needsBonus } = settings;
  const oldLogprobs = spreadOver(group, (row) => row.oldLogprobs);
  const mask = spreadOver(group, trainedMask);
  const rolloutWeights = correction?.bypass
    ? bypassWeights(logprobs, oldLogprobs, mask, correction)
    : group.every((row) => row.rolloutWeights !== undefined)
      ? spreadOver(group, (row) => row.rolloutWeights!)
      : undefined;
  return {
    ...{ logprobs, oldLogprobs, mask },
    advantages: spreadOver(group, (row) => row.advantages),
    ...(needsBonus && entropyCoefficient === 0 ? {} : { entropies }),
    ...special(group, settings.loss, random),
    ...defined({ rolloutWeights }),
    ...(settings.klLossCoefficient === undefined
      ? {}
      : { refLogprobs: spreadOver(group, (row) => row.refLogprobs!) }),
  };
}

/** What single losses ask for besides: the turns of the rows, draws. */
function special(
  group: readonly ReadyRow[],
  loss: LossName,
  random: Random,
): { turns?: Int32Array[]; draws?: tf.Tensor } {
  const all = group.map(({ trajectory: { prompt, tokens } }) => prompt.length + tokens.length);
  const time = Math.max(...all);
  const turns = () =>
    group.map((row) => {
      const out = new Int32Array(time);
      out.set(turnsOf(trainedMask(row)), row.trajectory.prompt.length - 1);
      return out;
    });
  return {
    ...(loss === "turn" || loss === "gspo_turn" ? { turns: turns() } : {}),
    ...(loss === "clip_cov" ? { draws: drawsOf(random, group.length * time) } : {}),
  };
}
