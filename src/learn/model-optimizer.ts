import { fetchWeights } from "../model/decoder/of-model.js";
import type { Model } from "../model/transformer/transformer.js";
import { setWeightPrecision } from "../model/precision/set-weight-precision.js";
import { AdamW, type AdamWOptions, type AdamWReport, type AdamWState } from "../tensor/adamw.js";
import { gradientsOf } from "../tensor/gradients.js";
import { tf } from "../tensor/tf.js";
import { accumulate } from "./gradient-sum.js";

/** The loss of one pass, and what should be read of it once it is computed. */
export interface PassLoss {
  loss: tf.Tensor;
  /** Numbers to hand to `seen`, by name. */
  figures: Record<string, tf.Tensor>;
}

/** What one optimiser step may choose for itself. */
export type StepSettings = Required<Pick<AdamWOptions, "learningRate" | "weightDecay" | "maxNorm">>;

/**
 * A model with its optimiser, which moves the adapters alone where there are some: one step is made
 * from the summed gradients of as many passes as memory asks for.
 */
export class ModelOptimizer {
  readonly #adamw: AdamW;
  readonly #trained: ReadonlyMap<string, tf.Variable>;

  constructor(
    readonly model: Model,
    { learningRate, weightDecay, maxNorm }: StepSettings,
  ) {
    this.#trained = model.trainable;
    this.#adamw = new AdamW(this.#trained, { learningRate, weightDecay, maxNorm });
  }

  /** Steps taken; skipped ones do not count. */
  get steps(): number {
    return this.#adamw.steps;
  }

  get learningRate(): number {
    return this.#adamw.options.learningRate;
  }

  /** Frees the averages; the model stays. */
  dispose(): void {
    this.#adamw.dispose();
  }

  state(): Promise<AdamWState> {
    return this.#adamw.state();
  }

  restore(state: AdamWState): void {
    this.#adamw.restore(state);
  }

  /**
   * One step along the sum of the passes' losses; `seen` is told each pass's figures, and `now` lays
   * this step's settings over the optimiser's.
   */
  async step<P>(
    passes: readonly P[],
    lossOf: (pass: P) => PassLoss,
    seen: (pass: P, figures: Record<string, Float32Array>) => void,
    now: Partial<StepSettings> = {},
  ): Promise<AdamWReport> {
    if (this.model.trainable !== this.#trained) {
      throw new TypeError(
        "Cannot train: adapters must be added before the optimiser is made, got some added since",
      );
    }
    let sum: Record<string, tf.Tensor> | undefined;
    for (const pass of passes) {
      const kept: Record<string, tf.Tensor> = {};
      const { value, gradients } = gradientsOf(() => {
        const { loss, figures } = lossOf(pass);
        for (const [name, figure] of Object.entries(figures)) kept[name] = tf.keep(figure.clone());
        return loss.asScalar();
      }, this.#trained);
      sum = accumulate(sum, gradients);
      // All at once: a GPU is waited for once.
      const read = Object.fromEntries(
        await Promise.all(
          Object.entries(kept).map(
            async ([name, figure]) => [name, (await figure.data()) as Float32Array] as const,
          ),
        ),
      );
      tf.dispose([value, ...Object.values(kept)]);
      seen(pass, read);
    }
    const report = await this.#adamw.step(sum ?? {}, now);
    if (sum) tf.dispose(sum);
    const { weightPrecision, weights } = this.model;
    if (weightPrecision !== "float32" && this.#trained === weights && !report.skipped) {
      await setWeightPrecision(this.model, weightPrecision, this.steps);
    }
    this.model.changed();
    await fetchWeights(this.model);
    return report;
  }
}
