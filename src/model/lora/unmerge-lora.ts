import { checkArguments } from "../../arguments/check-arguments.js";
import type { Model } from "../transformer/transformer.js";

/**
 * Takes merged adapters out of the model's own weights again, which come back up to rounding.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { addLora, mergeLora, Model } from "arpo-lab/model";
 * import { unmergeLora } from "arpo-lab/experimental/formats";
 *
 * const sizes = { vocabSize: 9, hiddenSize: 8, intermediateSize: 16, layers: 1, heads: 2 };
 * const model = Model.init(sizes, 1);
 * addLora(model, { rank: 2, alpha: 4 });
 * mergeLora(model);
 * unmergeLora(model);
 * assert.equal(model.trainable.size, 14);
 * ```
 */
export function unmergeLora(model: Model): void {
  checkArguments("take adapters out", { model }, { model: "model" });
  model.mergeLora(false);
}
