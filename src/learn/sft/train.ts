import {
  above,
  checkOptions,
  either,
  fromTo,
  integer,
  integerOrAll,
  notNegative,
  oneOf,
  type OptionRules,
  positive,
  share,
} from "../../../common/options/check-options.js";
import { checkArguments } from "../../../common/options/check-arguments.js";
import { batches, type LoaderState } from "../../tasks/batches.js";
import { shareRows } from "../../model/transformer/sharing.js";
import type { Model } from "../../model/transformer/transformer.js";
import type { AdamWState } from "../../tensor/adamw.js";
import { tf } from "../../tensor/tf.js";
import { ModelOptimizer } from "../update/trainee.js";
import { type Schedule, learningRateFactor } from "../update/schedule.js";
import { splitSequences, tokensAtOnce } from "../update/passes.js";
import { type Example, ignored } from "./encode.js";

/** Tokens of an example that are learned: the first has nothing before it to be predicted from. */
const labelled = (example: Example): number =>
  example.labels.reduce((n, label, i) => n + Number(i > 0 && label !== ignored), 0);

/**
 * Summed cross-entropy of the labelled tokens: each position predicts the token behind it. Divide by
 * the number of labelled tokens for their mean. With `sharedPrefixes`, what examples begin with in common
 * is computed once: the same loss and gradients, to rounding.
 */
export function crossEntropy(
  model: Model,
  examples: readonly Example[],
  options: { checkpointing?: boolean; sharedPrefixes?: boolean } = {},
): tf.Scalar {
  const { sharedPrefixes, ...how } = options;
  if (sharedPrefixes) return sharedCrossEntropy(model, examples, how);
  return tf.tidy(() => {
    const batch = model.batch(examples.map(({ ids }) => ids));
    const [rows, time] = batch.ids.shape;
    const labels = new Int32Array(rows * time);
    const mask = new Float32Array(rows * time);
    examples.forEach((example, r) => {
      for (let t = 1; t < example.labels.length; t++) {
        if (example.labels[t] === ignored) continue;
        labels[r * time + t - 1] = example.labels[t]!;
        mask[r * time + t - 1] = 1;
      }
    });
    const wanted = tf.tensor2d(labels, [rows, time], "int32");
    const { logprobs } = model.logProbs(batch, wanted, how);
    return logprobs
      .mul(tf.tensor2d(mask, [rows, time]))
      .sum()
      .neg()
      .asScalar();
  });
}

/** Beginnings that examples have in common are computed once, and only what is learned gets logits. */
function sharedCrossEntropy(
  model: Model,
  examples: readonly Example[],
  options: { checkpointing?: boolean },
): tf.Scalar {
  return tf.tidy(() => {
    const { batch, index, time } = shareRows(
      examples.map(({ ids }) => ids),
      model.config,
    );
    const after: number[] = [];
    const labels: number[] = [];
    examples.forEach((example, r) => {
      for (let t = 1; t < example.labels.length; t++) {
        if (example.labels[t] === ignored) continue;
        after.push(index[r * time + t - 1]!);
        labels.push(example.labels[t]!);
      }
    });
    const places = tf.tensor1d(after, "int32");
    const { logprobs } = model.logProbsAt(batch, places, tf.tensor1d(labels, "int32"), options);
    return logprobs.sum().neg().asScalar();
  });
}

export interface SftOptions {
  /** The highest learning rate of the schedule. Default: 1e-4. */
  learningRate?: number;
  /**
   * Examples per forward pass, or per several where they hold more than `maxTokensPerPass`.
   * Default: 8.
   */
  batchSize?: number;
  /**
   * Tokens per forward pass, padding included, or without it and with shared beginnings once where
   * `sharedPrefixes` is on. Default: as many as keep 3 GiB for the backward pass, at most 16,384.
   */
  maxTokensPerPass?: number;
  /** Compute what rows begin with in common once, and nothing for padding: the same loss. Default: off. */
  sharedPrefixes?: boolean;
  /** Forward passes per optimiser step. Default: 1. */
  accumulation?: number;
  /** Passes over the examples; a fraction is allowed. Default: 3. */
  epochs?: number;
  /** Stops earlier, after so many optimiser steps. Default: none, `epochs` decides. */
  maxSteps?: number;
  /** How the learning rate goes on after the warm-up. Default: `cosine`, to 0. */
  schedule?: Schedule["style"];
  /** Share of all steps over which the learning rate rises. Default: 0. */
  warmupRatio?: number;
  /** AdamW's decoupled weight decay. Default: 0. */
  weightDecay?: number;
  /** Gradients whose joint norm is above this are scaled down to it. Default: 1. */
  maxNorm?: number;
  /** Visit the examples in another random order in each epoch. Default: true. */
  shuffle?: boolean;
  /** Decides the order of the examples. Default: 1. */
  seed?: number;
  /**
   * Compute each layer again for its gradient instead of keeping its activations: less memory, more
   * time. Default: false.
   */
  checkpointing?: boolean;
  /**
   * Examples whose loss is measured every `evalEvery` steps, or at the end of every epoch, and at
   * the end. Default: none.
   */
  evaluation?: readonly Example[];
  /** Optimiser steps between two measurements of `evaluation`. Default: at the end only. */
  evalEvery?: number | "epoch";
  /** Rows per forward pass of an evaluation. Default: batchSize. */
  evalBatchSize?: number;
  /** Continues where `SftTrainer.state()` was taken. Default: start anew. */
  resume?: SftState;
  /** Stops before the next optimiser step with an error. Default: none. */
  signal?: AbortSignal;
}

export const sftRules: OptionRules<SftOptions> = {
  learningRate: notNegative,
  batchSize: integer(1),
  maxTokensPerPass: fromTo(1, Infinity),
  sharedPrefixes: "boolean?",
  accumulation: integer(1),
  epochs: positive,
  maxSteps: integerOrAll(1),
  schedule: oneOf(["constant", "linear", "cosine"]),
  warmupRatio: share,
  weightDecay: notNegative,
  maxNorm: above(0),
  shuffle: "boolean?",
  seed: integer(0),
  checkpointing: "boolean?",
  evaluation: "list?",
  evalEvery: either(integer(1), oneOf(["epoch"])),
  evalBatchSize: integer(1),
  resume: "object?",
  signal: "signal?",
};

/** What a resumed run needs besides the weights. */
export interface SftState {
  step: number;
  loader: LoaderState;
  optimizer: AdamWState;
}

/** What one optimiser step did. */
export interface SftStep {
  step: number;
  totalSteps: number;
  epoch: number;
  /** Mean over the labelled tokens of the step. */
  loss: number;
  learningRate: number;
  gradientNorm: number;
  /** The gradient was not finite: nothing was changed. */
  skipped: boolean;
  tokens: number;
  evalLoss?: number;
}

/** Supervised fine-tuning as an iteration over optimiser steps. */
export class SftTrainer implements AsyncIterable<SftStep> {
  readonly totalSteps: number;
  readonly #model: Model;
  readonly #examples: readonly Example[];
  readonly #options: SftOptions;
  readonly #optimizer: ModelOptimizer;
  #step: number;
  #loader: LoaderState;

  constructor(model: Model, examples: readonly Example[], options: SftOptions = {}) {
    checkArguments("fine-tune", { model, examples }, { model: "model", examples: "list" });
    checkOptions("fine-tune", options, sftRules);
    const usable = examples.filter((example) => labelled(example) > 0);
    if (usable.length === 0) {
      throw new RangeError(
        `Cannot fine-tune: there must be an example with a label to learn, got ${examples.length} without`,
      );
    }
    this.#model = model;
    this.#examples = usable;
    this.#options = options;
    const { epochs = 3, maxSteps = Infinity, resume } = options;
    const perEpoch = Math.floor(usable.length / this.#rows());
    this.totalSteps = Math.min(maxSteps, Math.ceil(perEpoch * epochs));
    const { learningRate = 1e-4, weightDecay = 0, maxNorm = 1 } = options;
    this.#optimizer = new ModelOptimizer(model, { learningRate, weightDecay, maxNorm });
    if (resume) this.#optimizer.restore(resume.optimizer);
    this.#step = resume?.step ?? 0;
    this.#loader = resume?.loader ?? { epoch: 0, position: 0 };
  }

  /** Rows per optimiser step, never more than there are. */
  #rows(): number {
    const { batchSize = 8, accumulation = 1 } = this.#options;
    return Math.min(batchSize * accumulation, this.#examples.length);
  }

  /** What `resume` continues from. */
  async state(): Promise<SftState> {
    return {
      step: this.#step,
      loader: { ...this.#loader },
      optimizer: await this.#optimizer.state(),
    };
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<SftStep> {
    const { shuffle = true, seed = 1, signal, evaluation, evalEvery = Infinity } = this.#options;
    const loader = batches(this.#examples, {
      batchSize: this.#rows(),
      shuffle,
      seed,
      state: this.#loader,
    });
    for (const { items, state } of loader) {
      if (this.#step >= this.totalSteps) return;
      signal?.throwIfAborted();
      const report = await this.#update(items);
      this.#step++;
      this.#loader = state;
      const last = this.#step === this.totalSteps;
      const epochEnds = state.position + this.#rows() > this.#examples.length;
      const due = evalEvery === "epoch" ? epochEnds : this.#step % evalEvery === 0;
      if (evaluation?.length && (last || due)) {
        report.evalLoss = await this.evaluate(evaluation);
      }
      yield report;
    }
  }

  /** Mean loss over the labelled tokens of some examples. */
  async evaluate(examples: readonly Example[]): Promise<number> {
    const { evalBatchSize: batchSize = this.#options.batchSize ?? 8 } = this.#options;
    let sum = 0;
    for (const rows of this.#passes(examples, batchSize)) {
      const { sharedPrefixes } = this.#options;
      const loss = crossEntropy(this.#model, rows, { sharedPrefixes });
      sum += (await loss.data())[0]!;
      loss.dispose();
    }
    return sum / examples.reduce((n, example) => n + labelled(example), 0);
  }

  async #update(items: readonly Example[]): Promise<SftStep> {
    const { batchSize = 8, checkpointing = false, sharedPrefixes = false } = this.#options;
    const tokens = items.reduce((n, example) => n + labelled(example), 0);
    const passes = this.#passes(items, batchSize);
    const learningRate = this.#learningRate();
    let loss = 0;
    const { norm, skipped } = await this.#optimizer.step(
      passes,
      (rows) => {
        const part: tf.Tensor = crossEntropy(this.#model, rows, {
          checkpointing,
          sharedPrefixes,
        }).div(tokens);
        return { loss: part, figures: { part } };
      },
      (_, { part }) => (loss += part![0]!),
      { learningRate },
    );
    return {
      step: this.#step,
      totalSteps: this.totalSteps,
      epoch: this.#loader.epoch + this.#loader.position / this.#examples.length,
      loss,
      learningRate,
      gradientNorm: norm,
      skipped,
      tokens,
    };
  }

  /** Rows that go through the model together, of rows in batches. */
  #passes(items: readonly Example[], batchSize: number): Example[][] {
    const { config } = this.#model;
    const { maxTokensPerPass = tokensAtOnce(config), sharedPrefixes } = this.#options;
    const batches = Array.from({ length: Math.ceil(items.length / batchSize) }, (_, i) =>
      items.slice(i * batchSize, (i + 1) * batchSize),
    );
    const bounds = { maxTokensPerPass, sharedPrefixes };
    return batches.flatMap((rows) => splitSequences(rows, ({ ids }) => ids, bounds));
  }

  #learningRate(): number {
    const { learningRate = 1e-4, schedule = "cosine", warmupRatio = 0 } = this.#options;
    const { totalSteps } = this;
    const warmupSteps = Math.ceil(totalSteps * warmupRatio);
    return (
      learningRate * learningRateFactor({ style: schedule, warmupSteps, totalSteps }, this.#step)
    );
  }
}
