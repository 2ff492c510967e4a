import { checkArguments } from "../../../arguments/check-arguments.js";
import type { Model } from "../../model/transformer/transformer.js";
import type { AdamWState } from "../../tensor/adamw.js";
import {
  type BatchRow,
  isPrepared,
  isTrained,
  type PreparedRow,
  type ScoredRow,
  type TrainedRow,
  type TrainingBatch,
} from "../batch.js";
import {
  bypassMeasuring,
  correctionFigures,
  correctionOf,
  type CorrectionSettings,
  correctRows,
} from "../correction/rollout-correction.js";
import { lossUnder, passLoss, type ReadyRow } from "./pass-loss.js";
import { gatherFrom, type PassRow, passWeight, splitByTokens, tokensAtOnce } from "./passes.js";
import {
  measureRows,
  ModelTrainee,
  type RowMeasures,
  type Trainable,
  trainedOf,
  type Trainee,
  traineeOf,
} from "./trainee.js";
import { MetricMeans, UpdateReport } from "./update-report.js";
import {
  type Reference,
  type UpdateOptions,
  type UpdateSettings,
  updateSettings,
} from "./update-settings.js";

/** ln p and entropy of every response token under a frozen policy. */
async function measureReference(
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
function hasReusableLogProbs({ trajectory }: ScoredRow): boolean {
  if (trajectory.sampler !== undefined) return false;
  const { lossMask, logprobs, entropies } = trajectory;
  return lossMask.every(
    (trained, t) => !trained || (Number.isFinite(logprobs[t]) && Number.isFinite(entropies[t])),
  );
}

/** The trajectory with what it said; where nothing is trained there may be nothing, which counts as 0. */
function withReusedLogProbs<R extends ScoredRow>(row: R): R & PreparedRow {
  const known = (values: Float32Array) => values.map((x) => (Number.isFinite(x) ? x : 0));
  return Object.assign(row, {
    oldLogprobs: known(row.trajectory.logprobs),
    entropies: known(row.trajectory.entropies),
    oldFrom: "rollout" as const,
  });
}

/** The share of trajectories whose log-probabilities are the rollout's. */
const reusedShare = (rows: readonly Pick<PreparedRow, "oldFrom">[]): number =>
  rows.filter(({ oldFrom }) => oldFrom === "rollout").length / rows.length;

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

  constructor(trained: Model | Trainee, options: UpdateOptions = {}) {
    this.#settings = updateSettings(options);
    this.#trainee = traineeOf(trained, this.#settings);
    const here = this.#trainee instanceof ModelTrainee ? this.#trainee.model.config : undefined;
    if (here && options.maxTokensPerPass === undefined) {
      this.#settings.maxTokensPerPass = tokensAtOnce(here);
    }
    this.#trainee.check?.(this.#settings);
  }

  /** The model that is trained, where that is one in memory. */
  get model(): Model {
    return this.#here("give the model").model;
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

  restore(state: AdamWState): void {
    this.#here("restore an optimiser").restore(state);
  }

  #here(action: string): ModelTrainee {
    if (this.#trainee instanceof ModelTrainee) return this.#trainee;
    throw new TypeError(
      `Cannot ${action}: what is trained must be a model in memory, got one elsewhere, which saves itself`,
    );
  }

  /** ln p and entropy of every response token under a model as it is now; nothing is trained. */
  async logProbs(
    rows: readonly PassRow[],
    options: Pick<UpdateOptions, "temperature" | "maxTokensPerPass" | "maxSequencesPerPass"> & {
      /** The model that is asked. Default: the one that trains. */
      model?: Reference;
    } = {},
  ): Promise<RowMeasures> {
    const { model, ...own } = options;
    const settings = updateSettings(this.#settings, own);
    return model ? measureReference(model, rows, settings) : this.#trainee.measure(rows, settings);
  }

  /**
   * Measures what an update needs from before it, and writes it into the trajectories: log-probabilities and
   * entropies under the model as it is, log-probabilities under the reference policy for a KL loss, and
   * what a correction for another sampler makes of them.
   */
  async prepare<R extends ScoredRow>(
    rows: readonly R[],
    options: UpdateOptions = {},
  ): Promise<(R & PreparedRow)[]> {
    const settings = updateSettings(this.#settings, options);
    const correction = correctionOf(settings.rolloutCorrection, rows);
    const prepared = correction?.bypass
      ? bypassMeasuring(rows)
      : settings.reuseLogProbs && !correction
        ? await this.#reuseOld(rows, settings)
        : await this.#measureOld(rows, settings);
    correctRows(prepared, correction);
    if (settings.klLossCoefficient !== undefined) await this.#askReference(prepared, settings);
    return prepared;
  }

  async #measureOld<R extends ScoredRow>(
    rows: readonly R[],
    settings: UpdateSettings,
  ): Promise<(R & PreparedRow)[]> {
    const { logprobs, entropies } = await this.#trainee.measure(rows, settings);
    return rows.map((row: R & Partial<PreparedRow>, i) => {
      delete row.oldFrom;
      return Object.assign(row, { oldLogprobs: logprobs[i]!, entropies: entropies[i]! });
    });
  }

  /** What the rollout said, where the policy wrote all that is trained; the other trajectories are measured. */
  async #reuseOld<R extends ScoredRow>(
    rows: readonly R[],
    settings: UpdateSettings,
  ): Promise<(R & PreparedRow)[]> {
    const others = rows.filter((row) => !hasReusableLogProbs(row));
    const measured = new Map<R, R & PreparedRow>();
    if (others.length > 0) {
      const found = await this.#measureOld(others, settings);
      others.forEach((row, i) => measured.set(row, found[i]!));
    }
    return rows.map((row) => measured.get(row) ?? withReusedLogProbs(row));
  }

  async #askReference(rows: readonly PreparedRow[], settings: UpdateSettings): Promise<void> {
    if (!settings.reference) {
      throw new TypeError("Cannot add a KL loss: a reference model must be given, got none");
    }
    const { logprobs } = await measureReference(settings.reference, rows, settings);
    rows.forEach((row, i) => (row.refLogprobs = logprobs[i]!));
  }

  /** The trajectories with all that these settings need; what an earlier update measured is kept. */
  async #ready(
    rows: readonly BatchRow[],
    settings: UpdateSettings,
    correction: CorrectionSettings | undefined,
  ): Promise<readonly ReadyRow[]> {
    const reuses = settings.reuseLogProbs && !correction;
    const fits = ({ oldFrom }: BatchRow) =>
      correction?.bypass
        ? oldFrom === "sampler"
        : oldFrom === undefined || (oldFrom === "rollout" && reuses);
    if (!rows.every(isPrepared) || !rows.every(fits)) {
      return this.prepare(rows, settings);
    }
    const lacking = settings.klLossCoefficient !== undefined && rows.some((r) => !r.refLogprobs);
    if (lacking) await this.#askReference(rows, settings);
    return rows;
  }

  /** Moves the policy along the batch's advantages; `prepare` is called first where it was not. */
  async update(batch: TrainingBatch, options: UpdateOptions = {}): Promise<UpdateReport> {
    const settings = updateSettings(this.#settings, options);
    this.#trainee.check?.(settings);
    if (batch.trajectories.length === 0) {
      throw new RangeError("Cannot update: the batch must have a trajectory, got none");
    }
    const correction = correctionOf(settings.rolloutCorrection, batch.trajectories);
    if (correction?.bypass && settings.loss !== "vanilla") {
      throw new RangeError(
        `Cannot update: a correction that bypasses measuring brings its own loss, so loss must be vanilla, got ${settings.loss}`,
      );
    }
    const ready = await this.#ready(batch.trajectories, settings, correction);
    const corrected = correctRows(ready, correction);
    const means = new MetricMeans();
    const size = Math.min(settings.miniBatchSize ?? ready.length, ready.length);
    let [skipped, all] = [0, 0];
    for (let epoch = 0; epoch < settings.epochs; epoch++) {
      const rows = settings.shuffle?.split(epoch).shuffle(ready) ?? ready;
      for (let i = 0; i < rows.length; i += size) {
        const done = await this.#step(rows.slice(i, i + size), settings, correction, means);
        all++;
        if (!done) skipped++;
      }
    }
    const entropy = meanOver(ready, (row) => row.entropies);
    const trained = ready.filter(isTrained);
    const figures =
      correction?.bypass && trained.length > 0
        ? correctionFigures(
            trained,
            trained.map((row) => row.newLogprobs),
            correction,
          )
        : corrected;
    return new UpdateReport(
      {
        ...means.values(),
        ...{ "actor/entropy_loss": entropy, "actor/lr": settings.learningRate },
        ...(settings.reuseLogProbs ? { "actor/reused_log_probs": reusedShare(ready) } : {}),
        ...figures,
      },
      batch,
      // The loss that was minimised, which a correction may have brought.
      { ...settings, loss: lossUnder(settings, correction) },
      skipped,
      all,
    );
  }

  /** One optimiser step over a mini-batch; false where its gradient was not finite. */
  async #step(
    rows: readonly ReadyRow[],
    settings: UpdateSettings,
    correction: CorrectionSettings | undefined,
    means: MetricMeans,
  ): Promise<boolean> {
    const whole = passWeight(rows, settings) || 1;
    const random = settings.random.split(`step ${this.steps}`);
    let pass = 0;
    const longest = Math.max(...rows.map(({ trajectory }) => trajectory.tokens.length));
    const { learningRate, weightDecay, maxNorm } = settings;
    const done = await this.#trainee.step({
      passes: splitByTokens(rows, settings),
      lossOf: (group, found) => {
        const { loss, report, ...tokens } = passLoss(
          group,
          found,
          settings,
          longest,
          correction,
          random.split(pass++),
        );
        // Parts are weighed so that the split does not change the gradient of token and trajectory means.
        const share = passWeight(group, settings) / whole;
        return { loss: loss.mul(share), figures: { ...report, ...tokens } };
      },
      seen: (group, { logprobs, chosen, weights, ...metrics }) => {
        const fresh = gatherFrom(group, logprobs!);
        if (chosen) {
          const picked = gatherFrom(group, chosen);
          group.forEach((row, i) => (row.chosen = picked[i]!));
        }
        if (weights) {
          const used = gatherFrom(group, weights);
          group.forEach((row, i) => (row.rolloutWeights = used[i]!));
        }
        group.forEach((row: Partial<TrainedRow>, i) => (row.newLogprobs = fresh[i]!));
        for (const [name, [value]] of Object.entries(metrics)) means.add(name, value!);
      },
      settings,
      now: { learningRate, weightDecay, maxNorm },
    });
    // A server may not say it.
    if (!Number.isNaN(done.norm) || done.skipped) means.add("actor/grad_norm", done.norm);
    for (const [name, value] of Object.entries(done.figures ?? {})) means.add(name, value);
    return !done.skipped;
  }
}

function meanOver<R extends PassRow>(rows: readonly R[], pick: (row: R) => Float32Array): number {
  let sum = 0;
  let count = 0;
  for (const row of rows) {
    pick(row).forEach((value, t) => {
      // A sampler may not have said how uncertain it was.
      if (!row.trajectory.lossMask[t] || Number.isNaN(value)) return;
      sum += value;
      count++;
    });
  }
  return count === 0 ? 0 : sum / count;
}

/** One optimiser per model, so that updates made by hand in cells share its moments, and nothing else. */
const learners = new WeakMap<Model | Trainee, Learner>();

/**
 * One update of a policy, in place. Calls on the same policy go on with the same optimiser's moments;
 * everything else is what each call says.
 *
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
export async function update(
  policy: Trainable,
  batch: TrainingBatch,
  options: UpdateOptions = {},
): Promise<UpdateReport> {
  checkArguments(
    "update",
    { policy, batch },
    { policy: "object", batch: { trajectories: "list" } },
  );
  if (!("trainee" in policy)) checkArguments("update", { policy }, { policy: { model: "model" } });
  const trained = trainedOf(policy);
  let learner = learners.get(trained);
  if (!learner) {
    learner = new Learner(trained);
    learners.set(trained, learner);
  }
  return learner.update(batch, options);
}
