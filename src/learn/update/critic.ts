import { checkArguments } from "../../../common/options/check-arguments.js";
import { checkOptions, type OptionRules } from "../../../common/options/check-options.js";
import type { Model } from "../../model/transformer/transformer.js";
import type { Random } from "../../base/random/random.js";
import type { AdamWState } from "../../tensor/adamw.js";
import { tf } from "../../tensor/tf.js";
import { type BatchSequence, trainedMask, type TrainingBatch } from "../batch.js";
import type { LossAggregation } from "../losses/base/options.js";
import { valueLoss, valueLossRules } from "../losses/losses.js";
import { MetricMeans } from "./update-report.js";
import { ModelOptimizer } from "./trainee.js";
import {
  passWeight,
  tokensAtOnce,
  gatherFrom,
  openPass,
  type PassSequence,
  splitByTokens,
  spreadOver,
} from "./passes.js";
import { updateRules } from "./update-settings.js";

/** A trajectory whose old values are known. */
type ValuedSequence = BatchSequence & { values: Float32Array };
const isValued = (sequence: BatchSequence): sequence is ValuedSequence =>
  sequence.values !== undefined;

export interface CriticOptions {
  /** AdamW's learning rate. Default: 1e-5. */
  learningRate?: number;
  /** AdamW's decoupled weight decay. Default: 0.01. */
  weightDecay?: number;
  /** Gradients whose joint norm is above this are scaled down to it. Default: 1. */
  maxNorm?: number;
  /** Trajectories per optimiser step. Default: the whole batch. */
  miniBatchSize?: number;
  /** Passes over the batch. Default: 1. */
  epochs?: number;
  /** @default as many as keep 3 GiB for the backward pass, at most 16,384 */
  maxTokensPerPass?: number;
  /**
   * Trajectories per forward pass, where trajectories rather than tokens are limited. Default: no
   * limit.
   */
  maxSequencesPerPass?: number;
  /** How far a value may move from the old one. Default: 0.5. */
  clipRange?: number;
  /** How token losses become one number. Default: `token-mean`. */
  aggregation?: LossAggregation;
  /**
   * Compute each layer again for its gradient instead of keeping its activations: less memory, more
   * time. Default: false.
   */
  checkpointing?: boolean;
}

const rules: OptionRules<CriticOptions> = {
  learningRate: updateRules.learningRate,
  weightDecay: updateRules.weightDecay,
  maxNorm: updateRules.maxNorm,
  miniBatchSize: updateRules.miniBatchSize,
  epochs: updateRules.epochs,
  maxTokensPerPass: updateRules.maxTokensPerPass,
  maxSequencesPerPass: updateRules.maxSequencesPerPass,
  clipRange: valueLossRules.clipRange,
  aggregation: valueLossRules.aggregation,
  checkpointing: updateRules.checkpointing,
};

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
  readonly #optimizer: ModelOptimizer;

  /** @param model the model that predicts values; it is trained in place */
  constructor(model: Model, options: CriticOptions = {}) {
    checkArguments("make a critic", { model }, { model: "model" });
    checkOptions("make a critic", options, rules);
    this.model = model;
    this.#options = options;
    const { learningRate = 1e-5, weightDecay = 0.01, maxNorm = 1 } = options;
    this.#optimizer = new ModelOptimizer(model, { learningRate, weightDecay, maxNorm });
  }

  state(): Promise<AdamWState> {
    return this.#optimizer.state();
  }

  /** Frees the optimiser's averages; the model stays. */
  dispose(): void {
    this.#optimizer.dispose();
  }

  /** @param state what `state()` returned */
  restore(state: AdamWState): void {
    this.#optimizer.restore(state);
  }

  /**
   * The value before each response token.
   * @param sequences prompts with their responses
   */
  async values(sequences: readonly PassSequence[]): Promise<Float32Array[]> {
    const { maxTokensPerPass = tokensAtOnce(this.model.config), maxSequencesPerPass } =
      this.#options;
    const out: Float32Array[] = [];
    for (const group of splitByTokens(sequences, { maxTokensPerPass, maxSequencesPerPass })) {
      const values = tf.tidy(() => this.model.values(openPass(this.model, group).batch));
      out.push(...gatherFrom(group, (await values.data()) as Float32Array));
      values.dispose();
    }
    return out;
  }

  /**
   * Moves the values towards the batch's returns; each trajectory must carry its old values.
   * @param batch the batch with returns and old values
   * @param now the learning rate of this update and the stream that shuffles
   */
  async update(
    batch: TrainingBatch,
    now: { learningRate?: number; shuffle?: Random } = {},
  ): Promise<Record<string, number>> {
    checkArguments("update the critic", { batch }, { batch: { trajectories: "list" } });
    checkOptions("update the critic", now, {
      learningRate: updateRules.learningRate,
      shuffle: updateRules.shuffle,
    });
    const { trajectories: all } = batch;
    const { epochs = 1 } = this.#options;
    const miniBatchSize = Math.min(this.#options.miniBatchSize ?? all.length, all.length);
    const { learningRate = this.#optimizer.learningRate, shuffle } = now;
    const means = new MetricMeans();
    const valued = all.filter(isValued);
    if (valued.length < all.length) {
      throw new TypeError(
        `Cannot update the critic: each trajectory must carry its old values, got ${all.length - valued.length} without`,
      );
    }
    for (let epoch = 0; epoch < epochs; epoch++) {
      const sequences = shuffle?.split(epoch).shuffle(valued) ?? valued;
      for (let i = 0; i < sequences.length; i += miniBatchSize) {
        await this.#step(sequences.slice(i, i + miniBatchSize), means, learningRate);
      }
    }
    return { ...means.values(), "critic/lr": learningRate };
  }

  async #step(
    sequences: readonly ValuedSequence[],
    means: MetricMeans,
    learningRate: number,
  ): Promise<void> {
    const { maxTokensPerPass = tokensAtOnce(this.model.config), maxSequencesPerPass } =
      this.#options;
    const { checkpointing = false } = this.#options;
    const { clipRange = 0.5, aggregation = "token-mean" } = this.#options;
    const paddedLength = Math.max(...sequences.map(({ trajectory }) => trajectory.tokens.length));
    const whole = passWeight(sequences, { aggregation }) || 1;
    const { norm } = await this.#optimizer.step(
      splitByTokens(sequences, { maxTokensPerPass, maxSequencesPerPass }),
      (group) => {
        const pass = openPass(this.model, group);
        const { loss, metrics } = valueLoss(
          {
            predictions: this.model.values(pass.batch, { checkpointing }),
            values: spreadOver(group, (sequence) => sequence.values),
            returns: spreadOver(group, (sequence) => sequence.returns),
            mask: spreadOver(group, trainedMask),
          },
          { clipRange, aggregation, paddedLength },
        );
        return {
          loss: loss.mul(passWeight(group, { aggregation }) / whole),
          figures: { "critic/vf_loss": loss, "critic/vf_clipfrac": metrics.vf_clipfrac },
        };
      },
      (_, figures) => {
        for (const [name, [value]] of Object.entries(figures)) means.add(name, value!);
      },
      { learningRate },
    );
    means.add("critic/grad_norm", norm);
  }
}
