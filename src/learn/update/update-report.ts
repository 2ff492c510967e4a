import * as exact from "../../base/exact/index.js";
import { defined } from "../../../common/options/defined.js";
import { logged, showAs, type Shown } from "../../base/show/show-as.js";
import {
  type BatchSequence,
  isTrained,
  sampledLogprobs,
  type TrainedSequence,
  trainedMask,
  type TrainingBatch,
  usedAdvantages,
} from "../batch.js";
import type { LossRow } from "../losses/base/token-rule.js";
import type { AggregationChoice } from "../losses/registry.js";
import { type TokenUpdate, tokenUpdates } from "../losses/token-update.js";
import { type PassSequence, passWeight } from "./passes.js";
import type { UpdateOptions } from "./update-settings.js";

/** Means of named figures that come in parts. */
export class MetricMeans {
  readonly #sums = new Map<string, { sum: number; count: number }>();

  add(name: string, value: number): void {
    const entry = this.#sums.get(name) ?? { sum: 0, count: 0 };
    entry.sum += value;
    entry.count++;
    this.#sums.set(name, entry);
  }

  values(): Record<string, number> {
    return Object.fromEntries([...this.#sums].map(([name, { sum, count }]) => [name, sum / count]));
  }
}

/** Losses are weighed as passes are, everything else is a mean over tokens. */
const losses: ReadonlySet<string> = new Set([
  ...["actor/pg_loss", "actor/kl_loss", "actor/distillation_loss", "critic/vf_loss"],
]);

/** The figures of a step, from those of its passes: how it was split into passes changes none. */
export class StepFigures {
  readonly #sums = new Map<string, number>();
  readonly #whole: number;
  readonly #tokens: number;

  constructor(
    sequences: readonly PassSequence[],
    readonly aggregation: AggregationChoice,
  ) {
    this.#whole = passWeight(sequences, aggregation) || 1;
    this.#tokens = passWeight(sequences, tokenMean) || 1;
  }

  /** What a pass counts, so that the split does not change the gradient of token and trajectory means. */
  share(group: readonly PassSequence[]): number {
    return passWeight(group, this.aggregation) / this.#whole;
  }

  add(group: readonly PassSequence[], figures: Readonly<Record<string, Float32Array>>): void {
    const [share, tokens] = [this.share(group), passWeight(group, tokenMean) / this.#tokens];
    for (const [name, [value]] of Object.entries(figures)) {
      const weighed = value! * (losses.has(name) ? share : tokens);
      this.#sums.set(name, (this.#sums.get(name) ?? 0) + weighed);
    }
  }

  addTo(means: MetricMeans): void {
    for (const [name, sum] of this.#sums) means.add(name, sum);
  }
}

const tokenMean: AggregationChoice = { aggregation: "token-mean" };

/** A trajectory as the losses' rules see it. */
const lossSequence = (sequence: TrainedSequence): LossRow => ({
  logprobs: sequence.newLogprobs,
  oldLogprobs: sequence.oldLogprobs,
  advantages: usedAdvantages(sequence),
  mask: trainedMask(sequence),
  entropies: sequence.entropies,
  sampledLogprobs: sampledLogprobs(sequence),
  ...defined({ weights: sequence.rolloutWeights, wholeWeights: sequence.wholeWeights }),
  ...defined({ chosen: sequence.chosen, ages: sequence.ages }),
});

/**
 * What an update did: the reference's metrics, and the tokens behind them.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { TrainingBatch, UpdateReport } from "arpo-lab/learn";
 *
 * // Usually: await update(policy, batch, options).
 * const report = new UpdateReport({ "actor/lr": 1e-6 }, new TrainingBatch([], "grpo"), {}, 0);
 * assert.equal(report.metrics["actor/lr"], 1e-6);
 * ```
 */
export class UpdateReport {
  /** @param batch the batch that the update trained on */
  constructor(
    /** Under the reference's names. */
    readonly metrics: Readonly<Record<string, number>>,
    readonly batch: TrainingBatch,
    readonly options: UpdateOptions,
    /** Optimiser steps left out because the gradient was not finite. */
    readonly skippedSteps: number,
    /** Optimiser steps asked for, those included. */
    readonly optimizerSteps: number = skippedSteps,
  ) {}

  /**
   * What happened to each response token of a trajectory; undefined where the model did not write.
   * @param sequence a trajectory of the batch
   */
  tokens(sequence: BatchSequence): (TokenUpdate | undefined)[] {
    if (!isTrained(sequence)) {
      throw new TypeError(
        `Cannot tell what an update did: the trajectory must have been updated, got trajectory ${sequence.trajectory.id} without log-probabilities`,
      );
    }
    const trained = this.batch.trajectories.filter(isTrained);
    const at = trained.indexOf(sequence);
    const sequences = at < 0 ? [sequence] : trained;
    const updates = tokenUpdates(sequences.map(lossSequence), Math.max(0, at), this.options);
    const { lossMask } = sequence.trajectory;
    // What a correction rejected was written by the model too; the loss has not seen it.
    return updates.map((update, t) => {
      if (update || !lossMask[t]) return update;
      const ratio = exact.exp(sequence.newLogprobs[t]! - sequence.oldLogprobs[t]!);
      return { ratio, region: "dropped", weight: 0 };
    });
  }

  [Symbol.for("arpo-lab.summary")](): { group: string; text: string } {
    return { group: "Runs", text: `an update of ${this.batch.trajectories.length} trajectories` };
  }

  /** A table of the metrics. */
  toString(): string {
    const lines = Object.entries(this.metrics).map(
      ([name, value]) => `${name}\t${Number(value.toPrecision(5))}`,
    );
    if (this.skippedSteps > 0) {
      lines.push(`${this.skippedSteps} steps skipped: their gradient was not finite`);
    }
    return lines.join("\n");
  }

  [Symbol.for("Jupyter.display")](): Shown {
    return showAs("UpdateReport", this);
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return logged(this);
  }
}
