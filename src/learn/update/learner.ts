import { checkArguments } from "../../../common/options/check-arguments.js";
import * as exact from "../../base/exact/index.js";
import type { Model } from "../../model/transformer/transformer.js";
import type { AdamWState } from "../../tensor/adamw.js";
import {
  type BatchSequence,
  isPrepared,
  isTrained,
  type PreparedSequence,
  checkBatch,
  chooseSupport,
  refuseElsewhere,
  keptMass,
  meanOver,
  type ScoredSequence,
  type TrainedSequence,
  type TrainingBatch,
} from "../batch.js";
import {
  correctionFigures,
  correctionOf,
  type CorrectionSettings,
  correctSequences,
  rejectSequences,
} from "../correction/rollout-correction.js";
import type { OptionTable } from "../../../common/options/option-table.js";
import { stalenessFigures, writeAges } from "../staleness.js";
import type { PlainEstimator } from "../estimators/definition.js";
import { comparesDistributions } from "../distillation/options.js";
import { checkLossOptions, lossOf, type WithOwnLoss } from "../losses/registry.js";
import { reusedFigures, reuseOf, reuseSaid, saysEnough, takeSaid } from "./reuse-log-probs.js";
import {
  lossUnder,
  passLoss,
  type ReadySequence,
  requireFiniteTokens,
  stepFacts,
} from "./pass-loss.js";
import { gatherFrom, type PassSequence, splitByTokens, tokensAtOnce } from "./passes.js";
import {
  measureDistributions,
  measureSequences,
  ModelTrainee,
  type SequenceMeasures,
  type Trainable,
  trainedOf,
  type Trainee,
  traineeOf,
} from "./trainee.js";
import { MetricMeans, StepFigures, UpdateReport } from "./update-report.js";
import {
  type Reference,
  type UpdateOptions,
  type UpdateSettings,
  updateSettings,
} from "./update-settings.js";

/** ln p and entropy of every response token under a frozen policy. */
async function measureReference(
  reference: Reference,
  sequences: readonly PassSequence[],
  settings: UpdateSettings,
): Promise<SequenceMeasures> {
  if ("weights" in reference) return measureSequences(reference, sequences, settings);
  const isCut = sequences.some(({ trajectory }) => trajectory.support !== undefined);
  if (settings.samplingMask === "recorded" && isCut) refuseElsewhere();
  const said = await reference.logProbs(
    sequences.map(({ trajectory: { prompt, tokens } }) => ({ prompt, tokens })),
    { temperature: settings.temperature },
  );
  return {
    logprobs: said.map(({ logprobs }) => logprobs),
    entropies: said.map(({ entropies }) => entropies),
  };
}

/** The model of a teacher whose whole distributions are asked for. */
function distributionsOf(teacher: Reference | Trainee): Model {
  if ("weights" in teacher) return teacher;
  if ("model" in teacher) return teacher.model as Model;
  throw new TypeError(
    "Cannot update: distillationKind jsd and forward_kl_topk compare whole distributions, so teacher and student must be models in this process, got one that says log-probabilities alone; k1 in the advantage takes those",
  );
}

/** The correction that an update makes; a loss that asks for the sampler has its own. */
function correctionUnder(
  settings: UpdateSettings,
  sequences: readonly ScoredSequence[],
): CorrectionSettings | undefined {
  const { rolloutCorrection: option } = settings;
  const { asks, name } = lossOf(settings);
  if (asks !== "sampler") return correctionOf(option, sequences);
  if (option === undefined || option === false) return undefined;
  if (typeof option === "object" && option.when === "auto") return undefined;
  throw new RangeError(
    `Cannot update: the loss ${name} corrects for the sampler itself, so rolloutCorrection must be left out, got ${option === true ? "true" : "options"}`,
  );
}

/**
 * Trains a policy's model: holds the optimiser between updates, and the options that each update's own
 * are laid over.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { Learner } from "arpo-lab/learn";
 * import { Model } from "arpo-lab/model";
 *
 * const model = Model.init(
 *   { vocabSize: 12, hiddenSize: 8, intermediateSize: 16, layers: 1, heads: 2 },
 *   1,
 * );
 * assert.equal(new Learner(model, { learningRate: 1e-3 }).steps, 0);
 * ```
 */
export class Learner {
  readonly #trainee: Trainee;
  readonly #settings: UpdateSettings;

  /** @param trained the model to train, or what stands for one elsewhere */
  constructor(trained: Model | Trainee, options: UpdateOptions = {}) {
    this.#settings = updateSettings(options);
    this.#trainee = traineeOf(trained, this.#settings);
    const here = this.#modelHere?.config;
    if (here && options.maxTokensPerPass === undefined) {
      this.#settings.maxTokensPerPass = tokensAtOnce(here);
    }
    this.#trainee.check?.(this.#settings);
  }

  /** The model that is trained, where that is one in memory. */
  get model(): Model {
    return this.#here("give the model").model;
  }

  get #modelHere(): Model | undefined {
    return this.#trainee instanceof ModelTrainee ? this.#trainee.model : undefined;
  }

  /** How many updates what is trained has been through, where that is counted. */
  get #version(): number | undefined {
    return this.#modelHere?.updates;
  }

  /** Optimiser steps taken. */
  get steps(): number {
    return this.#trainee.steps;
  }

  /** The optimiser's, of a model in memory; one at a server saves its own. */
  async state(): Promise<AdamWState> {
    return this.#here("give an optimiser's state").state();
  }

  /** Frees the optimiser's averages of a model in memory; the model stays. */
  dispose(): void {
    if (this.#trainee instanceof ModelTrainee) this.#trainee.dispose();
  }

  /** @param state what `state()` returned */
  restore(state: AdamWState): void {
    this.#here("restore an optimiser").restore(state);
  }

  #here(action: string): ModelTrainee {
    if (this.#trainee instanceof ModelTrainee) return this.#trainee;
    throw new TypeError(
      `Cannot ${action}: what is trained must be a model in memory, got one elsewhere, which saves itself`,
    );
  }

  /**
   * ln p and entropy of every response token under a model as it is now; nothing is trained.
   * @param sequences prompts with their responses
   */
  async logProbs(
    sequences: readonly PassSequence[],
    options: Pick<UpdateOptions, "temperature" | "maxTokensPerPass" | "maxSequencesPerPass"> & {
      /** The model that is asked. Default: the one that trains. */
      model?: Reference;
    } = {},
  ): Promise<SequenceMeasures> {
    const { model, ...own } = options;
    const settings = updateSettings(this.#settings, own);
    return model
      ? measureReference(model, sequences, settings)
      : this.#trainee.measure(sequences, settings);
  }

  /**
   * Measures what an update needs from before it, and writes it into the trajectories: log-probabilities and
   * entropies under the model as it is, log-probabilities under the reference policy for a KL loss, and
   * what a correction for another sampler makes of them.
   * @param sequences the batch's trajectories; the results are written into them
   * @param needs what an estimator asks for besides: of `distributions`, `measureSquares`
   */
  async prepare<R extends ScoredSequence>(
    sequences: readonly R[],
    options: UpdateOptions = {},
    needs?: PlainEstimator["needs"],
  ): Promise<(R & PreparedSequence)[]> {
    const settings = updateSettings(this.#settings, options);
    writeAges(sequences, this.#version);
    const correction = correctionUnder(settings, sequences);
    const here = this.#trainee instanceof ModelTrainee;
    const { reference } = settings;
    chooseSupport(
      sequences,
      settings.samplingMask,
      here && !(reference && !("weights" in reference)),
    );
    const prepared = saysEnough(settings, correction)
      ? takeSaid(sequences, correction)
      : await reuseSaid(sequences, reuseOf(settings, correction, this.#modelHere), (others) =>
          this.#measureOld(others, settings),
        );
    correctSequences(prepared, correction);
    if (settings.klLossCoefficient !== undefined) await this.#askReference(prepared, settings);
    if (needs === "distributions") await this.measureSquares(prepared, options);
    return prepared;
  }

  /**
   * Measures the sum of p² over the vocabulary at every response token and writes it into the trajectories: what the
   * optimal token baseline needs besides log-probabilities. With ln p at the temperature and ln q at half of it that
   * is p² / q, so that whatever says log-probabilities can say it.
   * @param sequences the batch's trajectories, from `prepare`
   */
  async measureSquares<R extends PreparedSequence>(
    sequences: readonly R[],
    options: UpdateOptions = {},
  ): Promise<(R & Required<Pick<PreparedSequence, "squares">>)[]> {
    const settings = updateSettings(this.#settings, options);
    const { temperature } = settings;
    const measured = sequences.every(({ oldFrom }) => oldFrom === undefined);
    const whole = measured
      ? sequences.map(({ oldLogprobs }) => oldLogprobs)
      : (await this.#trainee.measure(sequences, settings)).logprobs;
    const half = await this.#trainee.measure(sequences, {
      ...settings,
      temperature: temperature / 2,
    });
    return sequences.map((sequence, i) => {
      const squares = whole[i]!.map((p, t) => exact.exp(2 * p - half.logprobs[i]![t]!));
      return Object.assign(sequence, { squares });
    });
  }

  async #measureOld<R extends ScoredSequence>(
    sequences: readonly R[],
    settings: UpdateSettings,
  ): Promise<(R & PreparedSequence)[]> {
    const { logprobs, entropies } = await this.#trainee.measure(sequences, settings);
    return sequences.map((sequence: R & Partial<PreparedSequence>, i) => {
      delete sequence.oldFrom;
      return Object.assign(sequence, { oldLogprobs: logprobs[i]!, entropies: entropies[i]! });
    });
  }

  async #askReference(
    sequences: readonly PreparedSequence[],
    settings: UpdateSettings,
  ): Promise<void> {
    if (!settings.reference) {
      throw new TypeError("Cannot add a KL loss: a reference model must be given, got none");
    }
    const { logprobs } = await measureReference(settings.reference, sequences, settings);
    sequences.forEach((sequence, i) => (sequence.refLogprobs = logprobs[i]!));
  }

  /** Asks the teacher, where there is one, and makes of the advantages what is used. */
  async #teach(
    sequences: readonly ReadySequence[],
    settings: UpdateSettings,
    { scored }: TrainingBatch,
  ): Promise<Record<string, number>> {
    sequences.forEach((sequence) => delete sequence.taughtAdvantages);
    const { teacher } = settings;
    if (teacher === undefined) return {};
    // Read where there is a teacher alone.
    const { askTeacher } = await import("../distillation/teacher.js");
    const { teach } = await import("../distillation/divergence.js");
    // What trajectories begin with in common is asked once.
    const how = { ...settings, sharedPrefixes: true };
    const whole = comparesDistributions(settings);
    const measure = (asked: readonly PassSequence[], model: Reference | undefined) =>
      whole
        ? measureDistributions(distributionsOf(model ?? this.#trainee), asked, how)
        : model
          ? measureReference(model, asked, how)
          : this.#trainee.measure(asked, how);
    await askTeacher(sequences, teacher, measure, scored);
    return teach(sequences, settings);
  }

  /** The trajectories with all that these settings need; what an earlier update measured is kept. */
  async #ready(
    sequences: readonly BatchSequence[],
    settings: UpdateSettings,
    correction: CorrectionSettings | undefined,
  ): Promise<readonly ReadySequence[]> {
    const reuses = reuseOf(settings, correction, this.#modelHere) !== undefined;
    const fits = ({ oldFrom, oldOver, trajectory: { support } }: BatchSequence) =>
      (support === undefined ||
        oldOver === (settings.samplingMask === "whole" ? "whole" : undefined)) &&
      (saysEnough(settings, correction)
        ? oldFrom === "sampler"
        : oldFrom === undefined || (oldFrom === "rollout" && reuses));
    if (!sequences.every(isPrepared) || !sequences.every(fits)) {
      return this.prepare(sequences, settings);
    }
    const lacking =
      settings.klLossCoefficient !== undefined && sequences.some((r) => !r.refLogprobs);
    if (lacking) await this.#askReference(sequences, settings);
    return sequences;
  }

  /**
   * Moves the policy along the batch's advantages; `prepare` is called first where it was not.
   * @param batch the batch, from `advantages`
   */
  async update(batch: TrainingBatch, options: UpdateOptions = {}): Promise<UpdateReport> {
    const settings = updateSettings(this.#settings, options);
    this.#trainee.check?.(settings);
    if (batch.trajectories.length === 0) {
      throw new RangeError("Cannot update: the batch must have a trajectory, got none");
    }
    // Another pass over a batch that was measured is no older.
    writeAges(
      batch.trajectories.filter((one) => !isPrepared(one)),
      this.#version,
    );
    const correction = correctionUnder(settings, batch.trajectories);
    if (correction?.bypass && settings.loss !== "vanilla") {
      throw new RangeError(
        `Cannot update: a correction that bypasses measuring brings its own loss, so loss must be vanilla, got ${lossOf(settings).name}`,
      );
    }
    const ready = await this.#ready(batch.trajectories, settings, correction);
    const corrected = correctSequences(ready, correction);
    const taught = await this.#teach(ready, settings, batch);
    requireFiniteTokens("update", ready, [
      ...(["oldLogprobs", "advantages", "rolloutWeights"] as const),
      ...(settings.klLossCoefficient === undefined ? [] : (["refLogprobs"] as const)),
    ]);
    const measured = saysEnough(settings, correction)
      ? undefined
      : ready.map((one) => one.oldLogprobs);
    const means = new MetricMeans();
    // What a pass weighs is by the loss that is minimised, which a correction may have brought.
    const used = { ...settings, loss: lossUnder(settings, correction) };
    const size = Math.min(settings.miniBatchSize ?? ready.length, ready.length);
    let [skipped, all] = [0, 0];
    for (let epoch = 0; epoch < settings.epochs; epoch++) {
      const sequences = settings.shuffle?.split(epoch).shuffle(ready) ?? ready;
      for (let i = 0; i < sequences.length; i += size) {
        const done = await this.#step(sequences.slice(i, i + size), used, correction, means);
        all++;
        if (!done) skipped++;
      }
    }
    const entropy = meanOver(ready, (sequence) => sequence.entropies);
    const trained = ready.filter(isTrained);
    const figures =
      correction?.bypass && trained.length > 0
        ? correctionFigures(
            trained,
            trained.map((sequence) => sequence.newLogprobs),
            correction,
          )
        : corrected;
    if (this.#trainee instanceof ModelTrainee) this.#trainee.model.updates++;
    return new UpdateReport(
      {
        ...means.values(),
        ...{ "actor/entropy_loss": entropy, "actor/lr": settings.learningRate },
        ...keptMass(ready),
        ...reusedFigures(ready, settings),
        ...figures,
        ...stalenessFigures(
          ready,
          measured ?? ready.map((one) => one.newLogprobs ?? one.oldLogprobs),
        ),
        ...taught,
      },
      batch,
      used,
      skipped,
      all,
    );
  }

  /** One optimiser step over a mini-batch; false where its gradient was not finite. */
  async #step(
    sequences: readonly ReadySequence[],
    settings: UpdateSettings,
    correction: CorrectionSettings | undefined,
    means: MetricMeans,
  ): Promise<boolean> {
    if (correction?.bypass && correction.rejection) {
      const { logprobs } = await this.#trainee.measure(sequences, settings);
      rejectSequences(sequences, logprobs, correction);
    }
    const step = new StepFigures(sequences, settings);
    const random = settings.random.split(`step ${this.steps}`);
    let pass = 0;
    const facts = stepFacts(sequences, settings);
    const { learningRate, weightDecay, maxNorm } = settings;
    const done = await this.#trainee.step({
      passes: splitByTokens(sequences, settings),
      lossOf: (group, found) => {
        const { loss, report, ...tokens } = passLoss(
          group,
          found,
          settings,
          facts,
          correction,
          random.split(pass++),
        );
        return { loss: loss.mul(step.share(group)), figures: { ...report, ...tokens } };
      },
      seen: (group, { logprobs, chosen, weights, ...metrics }) => {
        const fresh = gatherFrom(group, logprobs!);
        if (chosen) {
          const picked = gatherFrom(group, chosen);
          group.forEach((sequence, i) => (sequence.chosen = picked[i]!));
        }
        if (weights) {
          const used = gatherFrom(group, weights);
          group.forEach((sequence, i) => (sequence.rolloutWeights = used[i]!));
        }
        group.forEach(
          (sequence: Partial<TrainedSequence>, i) => (sequence.newLogprobs = fresh[i]!),
        );
        step.add(group, metrics);
      },
      settings,
      now: { learningRate, weightDecay, maxNorm },
    });
    step.addTo(means);
    // A server may not say it.
    if (!Number.isNaN(done.norm) || done.skipped) means.add("actor/grad_norm", done.norm);
    for (const [name, value] of Object.entries(done.figures ?? {})) means.add(name, value);
    return !done.skipped;
  }
}

/** One optimiser per model, so that updates made by hand in cells share its moments, and nothing else. */
const learners = new WeakMap<Model | Trainee, Learner>();

/**
 * One update of a policy, in place. Calls on the same policy go on with the same optimiser's moments;
 * everything else is what each call says.
 *
 * @param policy the policy to train; it is changed in place
 * @param batch the batch, from `advantages`
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { advantages, update } from "arpo-lab/learn";
 * import { Model } from "arpo-lab/model";
 * import { score } from "arpo-lab/learn";
 * import { rollout } from "arpo-lab/rollout";
 * import { randomTextPolicy } from "arpo-lab/experimental/testing";
 *
 * // Usually: await Policy.load("data/models/tiny"), which rolls out and is updated.
 * const sizes = { vocabSize: 128, hiddenSize: 8, intermediateSize: 16, layers: 1, heads: 2 };
 * const policy = { model: Model.init(sizes, 1) };
 * const tree = await rollout(randomTextPolicy(), { prompt: "6*7?", groundTruth: "42" }, { n: 4, seed: 1 });
 * const batch = advantages(await score(tree, ({ response }) => response.length));
 * const report = await update(policy, batch, { learningRate: 1e-4 });
 * assert.equal(report.metrics["actor/lr"], 1e-4);
 * ```
 */
export async function update<T extends OptionTable = Record<never, never>>(
  policy: Trainable,
  batch: TrainingBatch,
  options?: WithOwnLoss<UpdateOptions, T>,
): Promise<UpdateReport> {
  checkArguments("update", { policy }, { policy: "object" });
  checkBatch("update", batch);
  if (!("trainee" in policy)) checkArguments("update", { policy }, { policy: { model: "model" } });
  if (options !== undefined) checkLossOptions("update", options, updateSettings(options));
  const trained = trainedOf(policy);
  const learner = learners.get(trained) ?? new Learner(trained);
  learners.set(trained, learner);
  return learner.update(batch, options);
}
