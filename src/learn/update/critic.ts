import { checkArguments } from "../../../common/options/check-arguments.js";
import { checkOptions } from "../../../common/options/check-options.js";
import { type Complete, completed, rulesOf } from "../../../common/options/option-table.js";
import type { Model } from "../../model/transformer/transformer.js";
import type { Random } from "../../base/random/random.js";
import type { AdamWState } from "../../tensor/adamw.js";
import { tf } from "../../tensor/tf.js";
import { type BatchSequence, trainedMask, type TrainingBatch } from "../batch.js";
import { valueLoss } from "../losses/losses.js";
import { type CriticOptions, criticTable } from "./critic-settings.js";
import { requireFiniteTokens } from "./pass-loss.js";
import { MetricMeans, StepFigures } from "./update-report.js";
import { ModelOptimizer } from "./trainee.js";
import {
  tokensAtOnce,
  gatherFrom,
  openPass,
  type PassSequence,
  splitByTokens,
  spreadOver,
} from "./passes.js";
import { updateTable } from "./update-settings.js";

/** A trajectory whose old values are known. */
type ValuedSequence = BatchSequence & { values: Float32Array };
const isValued = (sequence: BatchSequence): sequence is ValuedSequence =>
  sequence.values !== undefined;

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
  readonly #settings: Complete<typeof criticTable>;
  readonly #optimizer: ModelOptimizer;

  /** @param model the model that predicts values; it is trained in place */
  constructor(model: Model, options: CriticOptions = {}) {
    checkArguments("make a critic", { model }, { model: "model" });
    checkOptions("make a critic", options, rulesOf(criticTable));
    this.model = model;
    const { maxTokensPerPass = tokensAtOnce(model.config) } = options;
    this.#settings = completed(criticTable, options, { maxTokensPerPass });
    const { learningRate, weightDecay, maxNorm } = this.#settings;
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
    const out: Float32Array[] = [];
    for (const group of splitByTokens(sequences, this.#settings)) {
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
      learningRate: criticTable.learningRate.rule,
      shuffle: updateTable.shuffle.rule,
    });
    const { trajectories: all } = batch;
    const { epochs } = this.#settings;
    const miniBatchSize = Math.min(this.#settings.miniBatchSize ?? all.length, all.length);
    const { learningRate = this.#optimizer.learningRate, shuffle } = now;
    const means = new MetricMeans();
    const valued = all.filter(isValued);
    if (valued.length < all.length) {
      throw new TypeError(
        `Cannot update the critic: each trajectory must carry its old values, got ${all.length - valued.length} without`,
      );
    }
    requireFiniteTokens("update the critic", valued, ["values", "returns"]);
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
    const { checkpointing, clipRange, aggregation } = this.#settings;
    const paddedLength = Math.max(...sequences.map(({ trajectory }) => trajectory.tokens.length));
    const step = new StepFigures(sequences, { aggregation });
    const { norm } = await this.#optimizer.step(
      splitByTokens(sequences, this.#settings),
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
          loss: loss.mul(step.share(group)),
          figures: { "critic/vf_loss": loss, "critic/vf_clipfrac": metrics.vf_clipfrac },
        };
      },
      (group, figures) => step.add(group, figures),
      { learningRate },
    );
    step.addTo(means);
    means.add("critic/grad_norm", norm);
  }
}
