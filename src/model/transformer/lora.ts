import { checkArguments } from "../../../common/options/check-arguments.js";
import { tf } from "../../tensor/tf.js";

/** How adapters are added; the names follow PEFT's. */
export interface LoraOptions {
  /** Columns between A and B (`r`): how much an adapter can say. */
  rank: number;
  /** What adapters add is multiplied by alpha / rank (`lora_alpha`). */
  alpha: number;
  /** Which projections of each layer: `"all-linear"` (the default), or names such as `q_proj`. */
  targetModules?: string | readonly string[];
  /** Multiply by alpha / sqrt(rank) instead (`use_rslora`). Default: false. */
  rslora?: boolean;
  /** A is drawn from it. Default: 0. */
  seed?: number;
}

/**
 * Low-rank adapters of a model: for a weight W [out, in] a pair A [rank, in] and B [out, rank], so that
 * the weight acts as W + scale * B A. `addLora` and `loadAdapter` make them.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { addLora, Model } from "arpo-lab/model";
 *
 * const sizes = { vocabSize: 9, hiddenSize: 8, intermediateSize: 16, layers: 1, heads: 2 };
 * const lora = addLora(Model.init(sizes, 1), { rank: 2, alpha: 4, targetModules: ["q_proj"] });
 * assert.equal(lora.scale, 2);
 * assert.deepEqual([...lora.weights.keys()], [
 *   "model.layers.0.self_attn.q_proj.lora_A.weight",
 *   "model.layers.0.self_attn.q_proj.lora_B.weight",
 * ]);
 * ```
 */
export class Lora {
  /** @internal Whether the base weights hold the adapters' part already. */
  merged = false;

  /**
   * @param rank the rank of A and B
   * @param alpha the numerator of the scale alpha / rank
   * @param rslora divide by the square root of the rank
   */
  constructor(
    readonly rank: number,
    readonly alpha: number,
    readonly rslora: boolean,
    /** The projections that have adapters, by the last part of their names. */
    readonly targetModules: readonly string[],
    /** All A and B, which are what is trained. */
    readonly weights: ReadonlyMap<string, tf.Variable>,
  ) {
    checkArguments("make adapters", { weights }, { weights: "items" });
  }

  get scale(): number {
    return this.alpha / (this.rslora ? Math.sqrt(this.rank) : this.rank);
  }

  /**
   * What a weight of the model acts with, if it has an adapter that is not merged: a new tensor.
   * @param name the name of the weight
   * @param weight the model's own weight
   * @param sign 1 to add the adapter, -1 to subtract it
   */
  apply(name: string, weight: tf.Tensor, sign: 1 | -1 = 1): tf.Tensor | undefined {
    const stem = name.replace(/\.weight$/, "");
    const a = this.weights.get(`${stem}.lora_A.weight`);
    const b = this.weights.get(`${stem}.lora_B.weight`);
    if (!a || !b) return undefined;
    return tf.tidy(() => {
      const change: tf.Tensor = tf.matMul(b as tf.Tensor2D, a as tf.Tensor2D);
      return weight.add(change.mul(sign * this.scale));
    });
  }

  dispose(): void {
    for (const weight of this.weights.values()) weight.dispose();
  }
}
