import { defined } from "../../../common/options/defined.js";
import type { Random } from "../../base/random/random.js";
import { tf } from "../../tensor/tf.js";
import {
  type BatchSequence,
  type PreparedSequence,
  sampledLogprobs,
  trainedMask,
  usedAdvantages,
} from "../batch.js";
import { bypassWeights, type CorrectionSettings } from "../correction/rollout-correction.js";
import { requireFinite } from "../masked.js";
import { type ActorLossInput, actorLossOf } from "../losses/losses.js";
import type { LossDefinition } from "../losses/base/definition.js";
import { aggregationOf, lossOf } from "../losses/registry.js";
import { clearMasked, drawsOf } from "../losses/base/tensor-ops.js";
import { aggregateLoss } from "../losses/base/aggregate.js";
import { tokenDivergence } from "../distillation/divergence.js";
import { promptScales, turnsOf } from "../losses/base/token-rule.js";
import { type PassLogProbs, spreadOver } from "./passes.js";
import type { UpdateSettings } from "./update-settings.js";

/** A trajectory that an optimiser step may be made from. */
export type ReadySequence = PreparedSequence & BatchSequence;

/** Refuses trajectories whose trained tokens have a number that is not finite in what a loss reads. */
export function requireFiniteTokens(
  action: string,
  sequences: readonly BatchSequence[],
  read: readonly (
    "oldLogprobs" | "refLogprobs" | "rolloutWeights" | "advantages" | "values" | "returns"
  )[],
): void {
  const mask = sequences.map(trainedMask);
  const nameOf = (i: number) =>
    `trajectory ${sequences[i]!.trajectory.id} of ${sequences[i]!.group}`;
  for (const what of read) {
    const values = sequences.map((sequence) => sequence[what] ?? []);
    requireFinite(action, what, values, { mask, nameOf });
  }
}

/** Everything that a loss may ask for of the trajectories of a pass. Call inside a tidy. */
function lossInput(
  group: readonly ReadySequence[],
  { logprobs, entropies }: PassLogProbs,
  settings: UpdateSettings,
  correction: CorrectionSettings | undefined,
  random: Random,
): ActorLossInput {
  const { entropyCoefficient = 0, entropyAdvantageNeedsBonus: needsBonus } = settings;
  const oldLogprobs = spreadOver(group, (sequence) => sequence.oldLogprobs);
  const mask = spreadOver(group, trainedMask);
  const rolloutWeights = correction?.bypass
    ? bypassWeights(logprobs, oldLogprobs, mask, correction)
    : group.every((sequence) => sequence.rolloutWeights !== undefined)
      ? spreadOver(group, (sequence) => sequence.rolloutWeights!)
      : undefined;
  return {
    ...{ logprobs, oldLogprobs, mask },
    advantages: spreadOver(group, usedAdvantages),
    ...(needsBonus && entropyCoefficient === 0 ? {} : { entropies }),
    ...special(group, lossOf(settings), random),
    ...(settings.offPolicyMask === undefined
      ? {}
      : { sampledLogprobs: spreadOver(group, sampledLogprobs) }),
    ...defined({ rolloutWeights }),
    ...(settings.klLossCoefficient === undefined
      ? {}
      : { refLogprobs: spreadOver(group, (sequence) => sequence.refLogprobs!) }),
  };
}

/** What single losses ask for besides: the turns of the trajectories, draws, what the sampler said. */
function special(
  group: readonly ReadySequence[],
  { asks }: LossDefinition,
  random: Random,
): Pick<ActorLossInput, "turns" | "draws" | "sampledLogprobs"> {
  const all = group.map(({ trajectory: { prompt, tokens } }) => prompt.length + tokens.length);
  const time = Math.max(...all);
  const turns = () =>
    group.map((sequence) => {
      const out = new Int32Array(time);
      out.set(turnsOf(trainedMask(sequence)), sequence.trajectory.prompt.length - 1);
      return out;
    });
  return {
    ...(asks === "turns" ? { turns: turns() } : {}),
    ...(asks === "draws" ? { draws: drawsOf(random, group.length * time) } : {}),
    ...(asks === "sampler" ? { sampledLogprobs: spreadOver(group, sampledLogprobs) } : {}),
  };
}

/** The loss that is minimised: the settings', or the one that a correction without measuring brings. */
export function lossUnder(
  { loss }: UpdateSettings,
  correction: CorrectionSettings | undefined,
): UpdateSettings["loss"] {
  return correction?.bypass === "reinforce" ? "gpg" : loss;
}

/** What a teacher adds to the loss of a pass, where it is in the loss and not in the advantages. */
function teacherLoss(
  group: readonly ReadySequence[],
  input: ActorLossInput & { rowScales: readonly number[] },
  settings: UpdateSettings,
  paddedLength: number,
): tf.Tensor | undefined {
  if (settings.teacher === undefined || settings.distillationAdvantage) return undefined;
  const said = spreadOver(group, ({ teacherLogprobs, oldLogprobs }) => {
    return teacherLogprobs ?? oldLogprobs.map(() => 0);
  });
  const has = spreadOver(group, (sequence) =>
    trainedMask(sequence).map((m) => (sequence.teacherLogprobs ? m : 0)),
  );
  const clear = clearMasked({ logprobs: input.logprobs, said, mask: has }, {});
  const { mode, rule } = aggregationOf(settings);
  const losses = tokenDivergence(clear.logprobs, clear.said, settings).mul<tf.Tensor>(has);
  const weighed = input.rolloutWeights ? losses.mul<tf.Tensor>(input.rolloutWeights) : losses;
  const { rowScales } = input;
  return aggregateLoss(weighed, input.mask, mode, { paddedLength, rowScales, rule });
}

/** What a pass knows of the step that it is a part of. */
interface StepFacts {
  /** Tokens of the longest response. */
  longest: number;
  /** What a trajectory's tokens count in a mean over prompts. */
  scaleOf: (sequence: ReadySequence) => number;
}

/** What the passes of a step share, so that their sum is that of the step as a whole. */
export function stepFacts(sequences: readonly ReadySequence[]): StepFacts {
  const scales = promptScales(
    sequences.map(({ group }) => group),
    sequences.map((sequence) => trainedMask(sequence).reduce((n, m) => n + m, 0)),
  );
  const bySequence = new Map(sequences.map((sequence, i) => [sequence, scales[i]!]));
  return {
    longest: Math.max(...sequences.map(({ trajectory }) => trajectory.tokens.length)),
    scaleOf: (sequence) => bySequence.get(sequence)!,
  };
}

/** What a pass minimises, and what should be read of it. Call inside a tidy. */
export function passLoss(
  group: readonly ReadySequence[],
  found: PassLogProbs,
  settings: UpdateSettings,
  { longest, scaleOf }: StepFacts,
  correction: CorrectionSettings | undefined,
  random: Random,
) {
  const input = {
    ...lossInput(group, found, settings, correction, random),
    rowScales: group.map(scaleOf),
  };
  const { paddedLength = longest } = settings;
  const out = actorLossOf(
    input,
    settings,
    paddedLength,
    lossOf({ loss: lossUnder(settings, correction) }),
  );
  const report: Record<string, tf.Tensor> = { "actor/pg_loss": out.policy };
  const taught = teacherLoss(group, input, settings, paddedLength);
  if (taught) {
    report["actor/distillation_loss"] = taught;
    const { distillationCoefficient: coefficient, distillationRewards } = settings;
    // As verl: alone it is what it is.
    out.loss = distillationRewards ? out.loss.add(taught.mul(coefficient)) : taught;
  }
  for (const [name, figure] of Object.entries(out.metrics)) report[`actor/${name}`] = figure;
  if (out.kl) {
    report["actor/kl_loss"] = out.kl;
    report["actor/kl_coef"] = tf.scalar(settings.klLossCoefficient ?? 0);
  }
  const { rolloutWeights } = input;
  return {
    ...{ loss: out.loss, logprobs: found.logprobs, report },
    ...defined({ chosen: out.chosen }),
    ...(correction?.bypass && rolloutWeights ? { weights: rolloutWeights } : {}),
  };
}
