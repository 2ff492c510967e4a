import {
  above,
  checkOptions,
  either,
  fromTo,
  integer,
  integerOrAll,
  notNegative,
  oneOf,
  positive,
  share,
  valuesOf,
} from "../../../common/options/check-options.js";
import {
  type Complete,
  completed,
  type Following,
  following,
  type Given,
  key,
  type Named,
  option,
  rulesOf,
  unset,
} from "../../../common/options/option-table.js";
import { checkArguments } from "../../../common/options/check-arguments.js";
import { batches, type LoaderState } from "../../tasks/batches.js";
import { shareRows } from "../../model/transformer/sharing.js";
import type { Model } from "../../model/transformer/transformer.js";
import type { AdamWState } from "../../tensor/adamw.js";
import { tf } from "../../tensor/tf.js";
import { ModelOptimizer } from "../update/trainee.js";
import { learningRateFactor } from "../update/schedule.js";
import { splitSequences, tokensAtOnce } from "../update/passes.js";
import { type Example, ignored } from "./encode.js";

const flag = valuesOf<boolean>("boolean?");
/** More of anything than a run can have. */
const most = 1_000_000;

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

/** How fine-tuning is done. The keys are those of LLaMA-Factory's file, which has some other defaults. */
export const sftTable = {
  /** The highest learning rate of the schedule. Default: 1e-4. */
  learningRate: option(
    notNegative,
    1e-4,
    key("sft.learning_rate", "Highest learning rate", { by: 5e-5, above: 0 }),
  ),
  /**
   * Examples per forward pass, or per several where they hold more than `maxTokensPerPass`.
   * Default: 8.
   */
  batchSize: option(
    integer(1),
    8,
    key("sft.per_device_train_batch_size", "Examples per forward pass", { above: 0, most }),
  ),
  /**
   * Tokens per forward pass, padding included, or without it and with shared beginnings once where
   * `sharedPrefixes` is on. Default: as many as keep 3 GiB for the backward pass, at most 16,384.
   */
  maxTokensPerPass: following(fromTo(1, Infinity)) satisfies Following<number, number>,
  /** Compute what rows begin with in common once, and nothing for padding: the same loss. Default: false. */
  sharedPrefixes: option(flag, false),
  /** Forward passes per optimiser step. Default: 1. */
  accumulation: option(
    integer(1),
    1,
    key("sft.gradient_accumulation_steps", "Forward passes per step", { above: 0, most }),
  ),
  /** Passes over the examples; a fraction is allowed. Default: 3. */
  epochs: option(positive, 3, key("sft.num_train_epochs", "Passes over the examples", { most })),
  /** Ends after so many optimiser steps (`max_steps`). Default: none, `epochs` decides. */
  steps: unset(integerOrAll(1)),
  /** How the learning rate goes on after the warm-up, to 0. Default: `cosine`. */
  schedule: option(
    oneOf(["constant", "linear", "cosine"]),
    "cosine",
    key("sft.lr_scheduler_type", "How the learning rate goes on", { by: "linear" as const }),
  ),
  /** Share of all steps over which the learning rate rises. Default: 0. */
  warmupRatio: option(share, 0, key("sft.warmup_ratio", "Share of steps over which it rises")),
  /** AdamW's decoupled weight decay. Default: 0. */
  weightDecay: option(notNegative, 0, key("sft.weight_decay", "AdamW's decoupled weight decay")),
  /** Gradients whose joint norm is above this are scaled down to it. Default: 1. */
  maxNorm: option(above(0), 1, key("sft.max_grad_norm", "Largest global gradient norm")),
  /** Visit the examples in another random order in each epoch. Default: true. */
  shuffle: option(flag, true),
  /** Decides the order of the examples. Default: 1. */
  seed: option(integer(0), 1, key("sft.seed", "Decides the order of the examples", { by: 42 })),
  /**
   * Compute each layer again for its gradient instead of keeping its activations: less memory, more
   * time. Default: false.
   */
  checkpointing: option(flag, false),
  /**
   * Examples whose loss is measured every `evalEvery` steps, or at the end of every epoch, and at
   * the end. Default: none.
   */
  evaluation: unset(valuesOf<readonly Example[]>("list?")),
  /** Optimiser steps between two measurements of `evaluation`. Default: at the end only. */
  evalEvery: unset(either(integer(1), oneOf(["epoch"]))),
  /** Rows per forward pass of an evaluation. Default: batchSize. */
  evalBatchSize: following(
    integer(1),
    key("sft.per_device_eval_batch_size", "Rows per forward pass of an evaluation", {
      ...{ by: 8, above: 0, most },
    }),
  ),
  /** Continues where `SftTrainer.state()` was taken. Default: start anew. */
  resume: unset(valuesOf<SftState>("object?")),
  /** Stops before the next optimiser step with an error. Default: none. */
  signal: unset(valuesOf<AbortSignal>("signal?")),
};

export interface SftOptions extends Given<typeof sftTable>, Named {}

/** The options with their defaults; how many tokens go through at once depends on the model. */
type SftSettings = Complete<typeof sftTable>;

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
  readonly #options: SftSettings;
  readonly #optimizer: ModelOptimizer;
  #step: number;
  #loader: LoaderState;

  constructor(model: Model, examples: readonly Example[], options: SftOptions = {}) {
    checkArguments("fine-tune", { model, examples }, { model: "model", examples: "list" });
    checkOptions("fine-tune", options, rulesOf(sftTable));
    const usable = examples.filter((example) => labelled(example) > 0);
    if (usable.length === 0) {
      throw new RangeError(
        `Cannot fine-tune: there must be an example with a label to learn, got ${examples.length} without`,
      );
    }
    this.#model = model;
    this.#examples = usable;
    const settings = completed(sftTable, options, {
      maxTokensPerPass: options.maxTokensPerPass ?? tokensAtOnce(model.config),
      evalBatchSize: options.evalBatchSize ?? options.batchSize ?? 8,
    });
    this.#options = settings;
    const { epochs, steps = Infinity, resume } = settings;
    const perEpoch = Math.floor(usable.length / this.#rows());
    this.totalSteps = Math.min(steps, Math.ceil(perEpoch * epochs));
    const { learningRate, weightDecay, maxNorm } = settings;
    this.#optimizer = new ModelOptimizer(model, { learningRate, weightDecay, maxNorm });
    if (resume) this.#optimizer.restore(resume.optimizer);
    this.#step = resume?.step ?? 0;
    this.#loader = resume?.loader ?? { epoch: 0, position: 0 };
  }

  /** Rows per optimiser step, never more than there are. */
  #rows(): number {
    const { batchSize, accumulation } = this.#options;
    return Math.min(batchSize * accumulation, this.#examples.length);
  }

  /** Frees what the optimiser keeps; the model stays. */
  dispose(): void {
    this.#optimizer.dispose();
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
    const { shuffle, seed, signal, evaluation, evalEvery = Infinity } = this.#options;
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
    const { evalBatchSize, sharedPrefixes } = this.#options;
    let sum = 0;
    for (const rows of this.#passes(examples, evalBatchSize)) {
      const loss = crossEntropy(this.#model, rows, { sharedPrefixes });
      sum += (await loss.data())[0]!;
      loss.dispose();
    }
    return sum / examples.reduce((n, example) => n + labelled(example), 0);
  }

  async #update(items: readonly Example[]): Promise<SftStep> {
    const { batchSize, checkpointing, sharedPrefixes } = this.#options;
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
    const { maxTokensPerPass, sharedPrefixes } = this.#options;
    const batches = Array.from({ length: Math.ceil(items.length / batchSize) }, (_, i) =>
      items.slice(i * batchSize, (i + 1) * batchSize),
    );
    const bounds = { maxTokensPerPass, sharedPrefixes };
    return batches.flatMap((rows) => splitSequences(rows, ({ ids }) => ids, bounds));
  }

  #learningRate(): number {
    const { learningRate, schedule, warmupRatio } = this.#options;
    const { totalSteps } = this;
    const warmupSteps = Math.ceil(totalSteps * warmupRatio);
    return (
      learningRate * learningRateFactor({ style: schedule, warmupSteps, totalSteps }, this.#step)
    );
  }
}
