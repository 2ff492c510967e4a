import { checkArguments } from "../arguments/check-arguments.js";
import type { Model } from "../model/index.js";
import type { Random } from "../random/index.js";
import { type AdamWState, tf } from "../tensor/index.js";
import {
  type BatchRow,
  isPrepared,
  type PreparedRow,
  type ScoredRow,
  type TrainedRow,
  type TrainingBatch,
} from "./batch.js";
import { actorLoss } from "./loss/actor-loss.js";
import { drawsOf } from "./loss/clip-cov.js";
import type { LossName } from "./loss/loss-names.js";
import { turnsOf } from "./loss/turns.js";
import { MetricMeans } from "./metric-means.js";
import { ModelOptimizer } from "./model-optimizer.js";
import { passWeight } from "./pass-weight.js";
import {
  gatherFrom,
  passLogProbs,
  type PassRow,
  splitByTokens,
  spreadOver,
} from "./token-passes.js";
import type { UpdateOptions } from "./update-options.js";
import { UpdateReport } from "./update-report.js";
import { type UpdateSettings, updateSettings } from "./update-settings.js";

/** A row that an optimiser step may be made from. */
type ReadyRow = PreparedRow & BatchRow;

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
  readonly model: Model;
  readonly #optimizer: ModelOptimizer;
  readonly #defaults: UpdateOptions;

  constructor(model: Model, options: UpdateOptions = {}) {
    checkArguments("update", { model, options }, { model: "model", options: "object" });
    this.model = model;
    this.#defaults = options;
    this.#optimizer = new ModelOptimizer(model, updateSettings(options));
  }

  /** Optimiser steps taken. */
  get steps(): number {
    return this.#optimizer.steps;
  }

  state(): Promise<AdamWState> {
    return this.#optimizer.state();
  }

  restore(state: AdamWState): void {
    this.#optimizer.restore(state);
  }

  /** ln p and entropy of every response token under a model as it is now; nothing is trained. */
  async logProbs(
    rows: readonly PassRow[],
    options: Pick<UpdateOptions, "temperature" | "maxTokensPerPass" | "maxRowsPerPass"> & {
      model?: Model;
    } = {},
  ): Promise<{ logprobs: Float32Array[]; entropies: Float32Array[] }> {
    const { model = this.model, ...own } = options;
    return this.#measure(rows, model, updateSettings(this.#defaults, own));
  }

  async #measure(rows: readonly PassRow[], model: Model, settings: UpdateSettings) {
    const { temperature } = settings;
    const out = { logprobs: [] as Float32Array[], entropies: [] as Float32Array[] };
    for (const group of splitByTokens(rows, settings.maxTokensPerPass, settings.maxRowsPerPass)) {
      const [logprobs, entropies] = tf.tidy(() => {
        const found = passLogProbs(model, group, { temperature, shared: settings.sharedPrefixes });
        return [found.logprobs, found.entropies];
      });
      out.logprobs.push(...gatherFrom(group, (await logprobs!.data()) as Float32Array));
      out.entropies.push(...gatherFrom(group, (await entropies!.data()) as Float32Array));
      tf.dispose([logprobs!, entropies!]);
    }
    return out;
  }

  /**
   * Measures what an update needs from before it, and writes it into the rows: log-probabilities and
   * entropies under the model as it is, and log-probabilities under the reference policy for a KL loss.
   */
  async prepare<R extends ScoredRow>(
    rows: readonly R[],
    options: UpdateOptions = {},
  ): Promise<(R & PreparedRow)[]> {
    const settings = updateSettings(this.#defaults, options);
    const { logprobs, entropies } = await this.#measure(rows, this.model, settings);
    const prepared = rows.map((row, i) =>
      Object.assign(row, { oldLogprobs: logprobs[i]!, entropies: entropies[i]! }),
    );
    if (settings.klLossCoefficient !== undefined) await this.#askReference(prepared, settings);
    return prepared;
  }

  async #askReference(rows: readonly PreparedRow[], settings: UpdateSettings): Promise<void> {
    if (!settings.reference) {
      throw new TypeError("Cannot add a KL loss: a reference model must be given, got none");
    }
    const { logprobs } = await this.#measure(rows, settings.reference, settings);
    rows.forEach((row, i) => (row.refLogprobs = logprobs[i]!));
  }

  /** The rows with all that these settings need; what an earlier update measured is kept. */
  async #ready(rows: readonly BatchRow[], settings: UpdateSettings): Promise<readonly ReadyRow[]> {
    if (!rows.every(isPrepared)) return this.prepare(rows, settings);
    const lacking = settings.klLossCoefficient !== undefined && rows.some((r) => !r.refLogprobs);
    if (lacking) await this.#askReference(rows, settings);
    return rows;
  }

  /** Moves the policy along the batch's advantages; `prepare` is called first where it was not. */
  async update(batch: TrainingBatch, options: UpdateOptions = {}): Promise<UpdateReport> {
    const settings = updateSettings(this.#defaults, options);
    if (batch.rows.length === 0) {
      throw new RangeError("Cannot update: the batch must have a row, got none");
    }
    const ready = await this.#ready(batch.rows, settings);
    const means = new MetricMeans();
    const size = Math.min(settings.miniBatchRows ?? ready.length, ready.length);
    let [skipped, all] = [0, 0];
    for (let epoch = 0; epoch < settings.epochs; epoch++) {
      const rows = settings.shuffle?.split(epoch).shuffle(ready) ?? ready;
      for (let i = 0; i < rows.length; i += size) {
        const done = await this.#step(rows.slice(i, i + size), settings, means);
        all++;
        if (!done) skipped++;
      }
    }
    const entropy = meanOver(ready, (row) => row.entropies);
    return new UpdateReport(
      { ...means.values(), "actor/entropy_loss": entropy, "actor/lr": settings.learningRate },
      batch,
      settings,
      skipped,
      all,
    );
  }

  /** One optimiser step over a mini-batch; false where its gradient was not finite. */
  async #step(
    rows: readonly ReadyRow[],
    settings: UpdateSettings,
    means: MetricMeans,
  ): Promise<boolean> {
    const whole = passWeight(rows, settings) || 1;
    const random = settings.random.split(`step ${this.steps}`);
    let pass = 0;
    const longest = Math.max(...rows.map(({ trajectory }) => trajectory.tokens.length));
    const { paddedLength = longest } = settings;
    const { norm, skipped } = await this.#optimizer.step(
      splitByTokens(rows, settings.maxTokensPerPass, settings.maxRowsPerPass),
      (group) => {
        const { loss, logprobs, report, chosen } = this.#loss(
          group,
          { ...settings, paddedLength },
          random.split(pass++),
        );
        // Parts are weighed so that the split does not change the gradient of token and row means.
        const share = passWeight(group, settings) / whole;
        const figures = { ...report, logprobs, ...(chosen ? { chosen } : {}) };
        return { loss: loss.mul(share), figures };
      },
      (group, { logprobs, chosen, ...metrics }) => {
        const fresh = gatherFrom(group, logprobs!);
        if (chosen) {
          const picked = gatherFrom(group, chosen);
          group.forEach((row, i) => (row.chosen = picked[i]!));
        }
        group.forEach((row: Partial<TrainedRow>, i) => (row.newLogprobs = fresh[i]!));
        for (const [name, [value]] of Object.entries(metrics)) means.add(name, value!);
      },
      {
        learningRate: settings.learningRate,
        weightDecay: settings.weightDecay,
        maxNorm: settings.maxNorm,
      },
    );
    means.add("actor/grad_norm", norm);
    return !skipped;
  }

  #loss(group: readonly ReadyRow[], settings: UpdateSettings, random: Random) {
    const { logprobs, entropies } = passLogProbs(this.model, group, {
      temperature: settings.temperature,
      checkpointing: settings.checkpointing,
      shared: settings.sharedPrefixes,
    });
    const { entropyCoefficient = 0, entropyAdvantageNeedsBonus: needsBonus } = settings;
    const input = {
      logprobs,
      oldLogprobs: spreadOver(group, (row) => row.oldLogprobs),
      advantages: spreadOver(group, (row) => row.advantages),
      mask: spreadOver(group, (row) => row.trajectory.lossMask),
      ...(needsBonus && entropyCoefficient === 0 ? {} : { entropies }),
      ...lossInput(group, settings.loss, random),
      ...(settings.klLossCoefficient === undefined
        ? {}
        : { refLogprobs: spreadOver(group, (row) => row.refLogprobs!) }),
    };
    const found = actorLoss(input, settings);
    const report: Record<string, tf.Tensor> = { "actor/pg_loss": found.policy };
    for (const [name, figure] of Object.entries(found.metrics)) report[`actor/${name}`] = figure;
    if (found.kl) {
      report["actor/kl_loss"] = found.kl;
      report["actor/kl_coef"] = tf.scalar(settings.klLossCoefficient ?? 0);
    }
    return { loss: found.loss, logprobs, report, chosen: found.chosen };
  }
}

/** What single losses ask for besides: the turns of the rows, draws, a correction's weights. */
function lossInput(group: readonly ReadyRow[], loss: LossName, random: Random) {
  const all = group.map(({ trajectory: { prompt, tokens } }) => prompt.length + tokens.length);
  const time = Math.max(...all);
  const turns = () =>
    group.map(({ trajectory: { prompt, lossMask } }) => {
      const row = new Int32Array(time);
      row.set(turnsOf(lossMask), prompt.length - 1);
      return row;
    });
  const corrected = group.every((row) => row.rolloutWeights !== undefined);
  return {
    ...(loss === "turn" || loss === "gspo_turn" ? { turns: turns() } : {}),
    ...(loss === "clip_cov" ? { draws: drawsOf(random, group.length * time) } : {}),
    ...(corrected ? { rolloutWeights: spreadOver(group, (row) => row.rolloutWeights!) } : {}),
  };
}

function meanOver<R extends PassRow>(rows: readonly R[], pick: (row: R) => Float32Array): number {
  let sum = 0;
  let count = 0;
  for (const row of rows) {
    pick(row).forEach((value, t) => {
      if (!row.trajectory.lossMask[t]) return;
      sum += value;
      count++;
    });
  }
  return count === 0 ? 0 : sum / count;
}
