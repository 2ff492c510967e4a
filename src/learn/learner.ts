import type { Model } from "../model/index.js";
import type { Random } from "../random/index.js";
import { type AdamWState, tf } from "../tensor/index.js";
import type { BatchRow, TrainingBatch } from "./batch.js";
import { type ActorLossOptions, actorLoss } from "./loss/actor-loss.js";
import { gspoLoss } from "./loss/gspo.js";
import { MetricMeans } from "./metric-means.js";
import { ModelOptimizer } from "./model-optimizer.js";
import { gatherFrom, passLogProbs, splitByTokens, spreadOver } from "./token-passes.js";
import { UpdateReport } from "./update-report.js";

export interface UpdateOptions extends ActorLossOptions {
  learningRate?: number;
  weightDecay?: number;
  /** Largest global gradient norm (`grad_clip`). */
  maxNorm?: number;
  /** Rows per optimiser step (`ppo_mini_batch_size` x n); unset: the whole batch. */
  miniBatchRows?: number;
  /** Passes over the batch (`ppo_epochs`). */
  epochs?: number;
  /** Tokens per forward pass, padding included. */
  maxTokensPerPass?: number;
  /** Rows per forward pass, where rows rather than tokens are limited. */
  maxRowsPerPass?: number;
  /** The temperature the rows were sampled at. */
  temperature?: number;
  /** One ratio per token, clipped (`ppo`), or one per row (`gspo`). */
  ratio?: "ppo" | "gspo";
  checkpointing?: boolean;
  /**
   * Compute what rows begin with in common once: the same losses and gradients. Default: off, as the
   * reference.
   */
  sharedPrefixes?: boolean;
  /**
   * AEPO's entropy-aware advantage only beside an entropy bonus, as in the official actor, which has
   * no entropies while `entropyCoefficient` is 0: every published run went without. Default: off.
   */
  entropyAdvantageNeedsBonus?: boolean;
  /** Visits the rows in a random order, another one in each epoch. */
  shuffle?: Random;
  /** The frozen policy a KL loss is measured against. */
  reference?: Model;
}

/**
 * Trains a policy's model: holds the optimiser between updates.
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
    this.model = model;
    this.#defaults = options;
    const defaults = { learningRate: 1e-6, weightDecay: 0.01, maxNorm: 1 };
    this.#optimizer = new ModelOptimizer(model, defaults, options);
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
    rows: readonly BatchRow[],
    options: Pick<UpdateOptions, "temperature" | "maxTokensPerPass" | "maxRowsPerPass"> & {
      model?: Model;
    } = {},
  ): Promise<{ logprobs: Float32Array[]; entropies: Float32Array[] }> {
    const settings = this.#with(options);
    const { temperature, model = this.model } = settings;
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

  /** Recomputes what the update needs from before it: old and reference log-probabilities. */
  async prepare(batch: TrainingBatch, options: UpdateOptions = {}): Promise<void> {
    const settings = this.#with(options);
    const old = await this.logProbs(batch.rows, settings);
    batch.rows.forEach((row, i) => {
      row.oldLogprobs = old.logprobs[i]!;
      row.entropies = old.entropies[i]!;
    });
    if (settings.klLossCoefficient === undefined) return;
    if (!settings.reference) {
      throw new TypeError("Cannot add a KL loss: a reference model must be given, got none");
    }
    const frozen = await this.logProbs(batch.rows, { ...settings, model: settings.reference });
    batch.rows.forEach((row, i) => (row.refLogprobs = frozen.logprobs[i]!));
  }

  /** Moves the policy along the batch's advantages; `prepare` is called first where it was not. */
  async update(batch: TrainingBatch, options: UpdateOptions = {}): Promise<UpdateReport> {
    const settings = this.#with(options);
    if (batch.rows.length === 0) {
      throw new RangeError("Cannot update: the batch must have a row, got none");
    }
    if (batch.rows.some((row) => !row.oldLogprobs)) await this.prepare(batch, options);
    const means = new MetricMeans();
    const size = Math.min(settings.miniBatchRows ?? batch.rows.length, batch.rows.length);
    let [skipped, all] = [0, 0];
    for (let epoch = 0; epoch < settings.epochs; epoch++) {
      const rows = settings.shuffle?.split(epoch).shuffle(batch.rows) ?? batch.rows;
      for (let i = 0; i < rows.length; i += size) {
        const done = await this.#step(rows.slice(i, i + size), settings, means);
        all++;
        if (!done) skipped++;
      }
    }
    const entropy = meanOver(batch.rows, (row) => row.entropies!);
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
    rows: readonly BatchRow[],
    settings: ReturnType<Learner["_settings"]>,
    means: MetricMeans,
  ): Promise<boolean> {
    const whole = weightOf(rows, settings);
    const paddedLength = Math.max(...rows.map(({ trajectory }) => trajectory.tokens.length));
    const { norm, skipped } = await this.#optimizer.step(
      splitByTokens(rows, settings.maxTokensPerPass, settings.maxRowsPerPass),
      (group) => {
        const { loss, logprobs, report } = this.#loss(group, { ...settings, paddedLength });
        // Parts are weighed so that the split does not change the gradient of token and row means.
        const share = weightOf(group, settings) / whole;
        return { loss: loss.mul(share), figures: { ...report, logprobs } };
      },
      (group, { logprobs, ...metrics }) => {
        const fresh = gatherFrom(group, logprobs!);
        group.forEach((row, i) => (row.newLogprobs = fresh[i]!));
        for (const [name, [value]] of Object.entries(metrics)) means.add(name, value!);
      },
      settings.learningRate,
    );
    means.add("actor/grad_norm", norm);
    return !skipped;
  }

  #loss(group: readonly BatchRow[], settings: ReturnType<Learner["_settings"]>) {
    const { logprobs, entropies } = passLogProbs(this.model, group, {
      temperature: settings.temperature,
      checkpointing: settings.checkpointing,
      shared: settings.sharedPrefixes,
    });
    const { entropyCoefficient = 0, entropyAdvantageNeedsBonus: needsBonus } = settings;
    const input = {
      logprobs,
      oldLogprobs: spreadOver(group, (row) => row.oldLogprobs!),
      advantages: spreadOver(group, (row) => row.advantages),
      mask: spreadOver(group, (row) => row.trajectory.lossMask),
      ...(needsBonus && entropyCoefficient === 0 ? {} : { entropies }),
      ...(settings.klLossCoefficient === undefined
        ? {}
        : { refLogprobs: spreadOver(group, (row) => row.refLogprobs!) }),
    };
    const found: ReturnType<typeof actorLoss> =
      settings.ratio === "gspo"
        ? { ...gspoLoss(input, settings), policy: tf.scalar(0) }
        : actorLoss(input, settings);
    const report: Record<string, tf.Tensor> = {
      "actor/pg_loss": settings.ratio === "gspo" ? found.loss : found.policy,
      "actor/pg_clipfrac": found.metrics.pg_clipfrac,
      "actor/ppo_kl": found.metrics.ppo_kl,
      "actor/pg_clipfrac_lower": found.metrics.pg_clipfrac_lower,
    };
    if (found.kl) {
      report["actor/kl_loss"] = found.kl;
      report["actor/kl_coef"] = tf.scalar(settings.klLossCoefficient ?? 0);
    }
    return { loss: found.loss, logprobs, report };
  }

  #with<T extends UpdateOptions>(options: T) {
    return { ...this._settings(), ...options } as ReturnType<Learner["_settings"]> & T;
  }

  /** @internal The settings with their defaults. */
  _settings() {
    return {
      learningRate: 1e-6,
      epochs: 1,
      maxTokensPerPass: 16_384,
      temperature: 1,
      ratio: "ppo" as const,
      checkpointing: false,
      sharedPrefixes: false,
      ...this.#defaults,
    };
  }
}

/** What a part of a mini-batch weighs: tokens for a token mean, rows for a mean over rows. */
function weightOf(rows: readonly BatchRow[], { aggregation }: UpdateOptions): number {
  if (aggregation === "seq-mean-token-sum" || aggregation === "seq-mean-token-mean") {
    return rows.length;
  }
  // A sum over one padded length adds up by itself.
  if (aggregation === "seq-mean-token-sum-norm") return 1;
  return rows.reduce((n, { trajectory }) => n + trajectory.lossMask.reduce((a, b) => a + b, 0), 0);
}

function meanOver(rows: readonly BatchRow[], pick: (row: BatchRow) => Float32Array): number {
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
