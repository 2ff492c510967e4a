import type { Model } from "../model/index.js";
import { AdamW, type AdamWState, gradientsOf, tf } from "../tensor/index.js";
import type { BatchRow, TrainingBatch } from "./batch.js";
import { accumulate } from "./gradient-sum.js";
import type { LossAggregation } from "./loss/aggregate.js";
import { valueLoss } from "./loss/value-loss.js";
import { MetricMeans } from "./metric-means.js";
import { type Pass, gatherFrom, openPass, splitByTokens, spreadOver } from "./token-passes.js";

export interface CriticOptions {
  learningRate?: number;
  weightDecay?: number;
  maxNorm?: number;
  miniBatchRows?: number;
  epochs?: number;
  maxTokensPerPass?: number;
  /** How far a value may move from the old one. */
  clipRange?: number;
  aggregation?: LossAggregation;
  checkpointing?: boolean;
}

/**
 * The value model that GAE needs: a model with a value head and its optimiser. Tool results are left out
 * of its loss, as they are of the policy's.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { Critic } from "arpo-lab/learn";
 * import { Model } from "arpo-lab/model";
 *
 * const sizes = { vocabSize: 12, hiddenSize: 8, intermediateSize: 16, layers: 1, heads: 2 };
 * const critic = new Critic(Model.init({ ...sizes, head: "value" }, 1), { learningRate: 1e-3 });
 * assert.deepEqual(await critic.values([]), []);
 * ```
 */
export class Critic {
  readonly model: Model;
  readonly #options: CriticOptions;
  readonly #optimizer: AdamW;

  constructor(model: Model, options: CriticOptions = {}) {
    this.model = model;
    this.#options = options;
    this.#optimizer = new AdamW(model.weights, {
      learningRate: options.learningRate ?? 1e-5,
      weightDecay: options.weightDecay ?? 0.01,
      maxNorm: options.maxNorm ?? 1,
    });
  }

  state(): Promise<AdamWState> {
    return this.#optimizer.state();
  }

  restore(state: AdamWState): void {
    this.#optimizer.restore(state);
  }

  /** The value before each response token. */
  async values(rows: readonly Pick<BatchRow, "trajectory">[]): Promise<Float32Array[]> {
    const { maxTokensPerPass = 32_768 } = this.#options;
    const out: Float32Array[] = [];
    for (const group of splitByTokens(rows as readonly BatchRow[], maxTokensPerPass)) {
      let pass: Pass | undefined;
      const values = tf.tidy(() => {
        pass = openPass(this.model, group);
        return this.model.values(pass.batch);
      });
      out.push(...gatherFrom(pass!, (await values.data()) as Float32Array));
      values.dispose();
    }
    return out;
  }

  /** Moves the values towards the batch's returns; each row must carry its old values. */
  async update(batch: TrainingBatch): Promise<Record<string, number>> {
    const { miniBatchRows = batch.rows.length, epochs = 1 } = this.#options;
    const means = new MetricMeans();
    for (let epoch = 0; epoch < epochs; epoch++) {
      for (let i = 0; i < batch.rows.length; i += miniBatchRows) {
        await this.#step(batch.rows.slice(i, i + miniBatchRows), means);
      }
    }
    return { ...means.values(), "critic/lr": this.#optimizer.options.learningRate };
  }

  async #step(rows: readonly BatchRow[], means: MetricMeans): Promise<void> {
    const { maxTokensPerPass = 32_768, checkpointing = false } = this.#options;
    const { clipRange = 0.5, aggregation = "token-mean" } = this.#options;
    let sum: Record<string, tf.Tensor> | undefined;
    for (const group of splitByTokens(rows, maxTokensPerPass)) {
      let clipped: tf.Tensor | undefined;
      let bare: tf.Tensor | undefined;
      const { value, gradients } = gradientsOf(() => {
        const pass = openPass(this.model, group);
        const { loss, metrics } = valueLoss(
          {
            predictions: this.model.values(pass.batch, { checkpointing }),
            values: spreadOver(pass, (row) => row.values!),
            returns: spreadOver(pass, (row) => row.returns),
            mask: spreadOver(pass, (row) => row.trajectory.lossMask),
          },
          { clipRange, aggregation },
        );
        clipped = tf.keep(metrics.vf_clipfrac.clone());
        bare = tf.keep(loss.clone());
        return loss.mul(group.length / rows.length).asScalar();
      }, this.model.weights);
      sum = accumulate(sum, gradients);
      means.add("critic/vf_loss", (await bare!.data())[0]!);
      means.add("critic/vf_clipfrac", (await clipped!.data())[0]!);
      tf.dispose([value, bare!, clipped!]);
    }
    const { norm } = await this.#optimizer.step(sum!);
    tf.dispose(sum!);
    this.model.changed();
    means.add("critic/grad_norm", norm);
  }
}
