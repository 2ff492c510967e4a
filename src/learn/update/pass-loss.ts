import { defined } from "../../../common/options/defined.js";
import type { Random } from "../../base/random/random.js";
import { embed } from "../../tensor/ops/embed.js";
import { tf } from "../../tensor/tf.js";
import {
  type BatchSequence,
  type PreparedSequence,
  sampledLogprobs,
  trainedMask,
  usedAdvantages,
} from "../batch.js";
import {
  bypassWeights,
  type CorrectionSettings,
  knownMask,
} from "../correction/rollout-correction.js";
import { requireFinite } from "../masked.js";
import { type ActorLossInput, actorLossOf } from "../losses/losses.js";
import type { LossDefinition } from "../losses/base/definition.js";
import { aggregationOf, lossOf } from "../losses/registry.js";
import { clearMasked, drawsOf } from "../losses/base/tensor-ops.js";
import { aggregateLoss } from "../losses/base/aggregate.js";
import { comparesDistributions, readsSampler, weighsByRatio } from "../distillation/options.js";
import {
  ratioWeights,
  teachersLikeliest,
  tokenDivergence,
  vocabularyDivergence,
} from "../distillation/vocabulary.js";
import { promptScales, turnsOf } from "../losses/base/token-rule.js";
import { type PassLogProbs, passWeight, spreadOver } from "./passes.js";
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
    ? bypassWeights(logprobs, oldLogprobs, spreadOver(group, knownMask), correction)
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
    ...(group.some((sequence) => sequence.wholeWeights) ? { wholeWeights: true } : {}),
    ...(settings.klLossCoefficient === undefined
      ? {}
      : { refLogprobs: spreadOver(group, (sequence) => sequence.refLogprobs!) }),
  };
}

const agesOf = ({ ages, oldLogprobs }: ReadySequence): ArrayLike<number> =>
  ages ?? oldLogprobs.map(() => -1);

/** What single losses ask for besides: the turns of the trajectories, draws, what the sampler said. */
function special(
  group: readonly ReadySequence[],
  { asks }: LossDefinition,
  random: Random,
): Pick<ActorLossInput, "turns" | "draws" | "sampledLogprobs" | "ages"> {
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
    ...(asks === "sampler" && group.some(({ ages }) => ages !== undefined)
      ? { ages: spreadOver(group, agesOf) }
      : {}),
  };
}

/** The loss that is minimised: the settings', or the one that a correction without measuring brings. */
export function lossUnder(
  { loss }: UpdateSettings,
  correction: CorrectionSettings | undefined,
): UpdateSettings["loss"] {
  return correction?.bypass === "reinforce" ? "gpg" : loss;
}

/** How far whole distributions are apart, over a pass: at the tokens that a teacher says something of, 0 elsewhere. */
function distributionsApart(
  group: readonly ReadySequence[],
  { logprobs: student, distributions }: PassLogProbs,
  settings: UpdateSettings,
): tf.Tensor {
  const { logprobs, places } = distributions!;
  const [vocabulary, time] = [logprobs.shape[1], student.shape[1]];
  const where = new Int32Array(places.length);
  const [at, said]: [number[], Float32Array[]] = [[], []];
  group.forEach((sequence, r) => {
    const { teacherDistributions: whole, trajectory } = sequence;
    trainedMask(sequence).forEach((m, t) => {
      if (!m || !whole) return;
      if (whole.length !== trajectory.tokens.length * vocabulary) {
        throw new RangeError(
          `Cannot update: teacher and student must have one vocabulary, got ${whole.length / trajectory.tokens.length} tokens and ${vocabulary}`,
        );
      }
      const place = r * time + trajectory.prompt.length - 1 + t;
      at.push(places[place]!);
      where[place] = said.push(whole.subarray(t * vocabulary, (t + 1) * vocabulary));
    });
  });
  if (at.length === 0) return student.mul(0);
  const teacher = new Float32Array(at.length * vocabulary);
  said.forEach((row, i) => teacher.set(row, i * vocabulary));
  const [own, taught] = [
    embed(logprobs, tf.tensor1d(at, "int32")),
    tf.tensor2d(teacher, [at.length, vocabulary]),
  ];
  const apart =
    settings.distillationKind === "forward_kl_topk"
      ? teachersLikeliest(own, taught, settings).apart
      : vocabularyDivergence(own, taught, settings);
  const list = tf.concat([tf.zeros([1]), apart]).expandDims(1);
  return embed(list, tf.tensor2d(where, [group.length, time], "int32")).reshape(student.shape);
}

/** What a teacher adds to the loss of a pass, where it is in the loss and not in the advantages. */
function teacherLoss(
  group: readonly ReadySequence[],
  found: PassLogProbs,
  input: ActorLossInput & { rowScales: readonly number[] },
  settings: UpdateSettings,
  { paddedLength, taught }: { paddedLength: number; taught: number },
): tf.Tensor | undefined {
  if (settings.teacher === undefined || settings.distillationAdvantage) return undefined;
  const said = spreadOver(group, ({ teacherLogprobs, oldLogprobs }) => {
    return teacherLogprobs ?? oldLogprobs.map(() => 0);
  });
  const has = spreadOver(group, (sequence) =>
    trainedMask(sequence).map((m) => (sequence.teacherLogprobs ? m : 0)),
  );
  const { logprobs, oldLogprobs } = input;
  const { distillationKind: kind, distillationRatioClip: most } = settings;
  const before = readsSampler(kind) ? spreadOver(group, sampledLogprobs) : oldLogprobs;
  const clear = clearMasked({ logprobs, oldLogprobs: before, said, mask: has }, {});
  const { mode, rule } = aggregationOf(settings);
  const apart = comparesDistributions(settings)
    ? distributionsApart(group, found, settings)
    : tokenDivergence(clear.logprobs, clear.said, settings, clear.oldLogprobs);
  const ratios = weighsByRatio(kind)
    ? ratioWeights(clear.logprobs, clear.oldLogprobs, most)
    : undefined;
  const losses = (ratios ? apart.mul<tf.Tensor>(ratios) : apart).mul<tf.Tensor>(has);
  const weighed = input.rolloutWeights ? losses.mul<tf.Tensor>(input.rolloutWeights) : losses;
  const { rowScales } = input;
  // Means are over what has a teacher: trajectories without one do not make the step smaller.
  return aggregateLoss(weighed, input.mask, mode, { paddedLength, rowScales, rule }).div(taught);
}

/** What a pass knows of the step that it is a part of. */
interface StepFacts {
  /** Tokens of the longest response. */
  longest: number;
  /** What a trajectory's tokens count in a mean over prompts. */
  scaleOf: (sequence: ReadySequence) => number;
  /** What those that have a teacher weigh of all in a mean. */
  taught: number;
}

/** What the passes of a step share, so that their sum is that of the step as a whole. */
export function stepFacts(
  sequences: readonly ReadySequence[],
  settings: UpdateSettings,
): StepFacts {
  const scales = promptScales(
    sequences.map(({ group }) => group),
    sequences.map((sequence) => trainedMask(sequence).reduce((n, m) => n + m, 0)),
  );
  const bySequence = new Map(sequences.map((sequence, i) => [sequence, scales[i]!]));
  return {
    longest: Math.max(...sequences.map(({ trajectory }) => trajectory.tokens.length)),
    scaleOf: (sequence) => bySequence.get(sequence)!,
    taught:
      passWeight(
        sequences.filter(({ teacherLogprobs }) => teacherLogprobs),
        settings,
      ) / passWeight(sequences, settings) || 1,
  };
}

/** What a pass minimises, and what should be read of it. Call inside a tidy. */
export function passLoss(
  group: readonly ReadySequence[],
  found: PassLogProbs,
  settings: UpdateSettings,
  { longest, scaleOf, taught: share }: StepFacts,
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
  const taught = teacherLoss(group, found, input, settings, { paddedLength, taught: share });
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
