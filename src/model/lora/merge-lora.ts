import { checkArguments } from "../../../common/options/check-arguments.js";
import type { Model } from "../transformer/transformer.js";

/**
 * Adds what the adapters compute into the model's own weights: the same results, as fast as without
 * adapters. Nothing can be trained until `unmergeLora`.
 *
 * @param model a model with adapters
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { addLora, mergeLora, Model } from "arpo-lab/model";
 *
 * const sizes = { vocabSize: 9, hiddenSize: 8, intermediateSize: 16, layers: 1, heads: 2 };
 * const model = Model.init(sizes, 1);
 * addLora(model, { rank: 2, alpha: 4 });
 * mergeLora(model);
 * assert.throws(() => model.trainable, /Cannot train/);
 * ```
 */
export function mergeLora(model: Model): void {
  checkArguments("merge adapters", { model }, { model: "model" });
  model.mergeLora(true);
}

/** Takes merged adapters out of the model's own weights again, which come back up to rounding. */
export function unmergeLora(model: Model): void {
  checkArguments("take adapters out", { model }, { model: "model" });
  model.mergeLora(false);
}
