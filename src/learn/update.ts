import { checkArguments } from "../arguments/check-arguments.js";
import type { Model } from "../model/transformer/transformer.js";
import type { TrainingBatch } from "./batch.js";
import { Learner } from "./learner.js";
import { type Trainable, trainedOf } from "./trainee-of.js";
import type { Trainee } from "./trainee.js";
import type { UpdateOptions } from "./update-options.js";
import type { UpdateReport } from "./update-report.js";

/** One optimiser per model, so that updates made by hand in cells share its moments, and nothing else. */
const learners = new WeakMap<Model | Trainee, Learner>();

/**
 * One update of a policy, in place. Calls on the same policy go on with the same optimiser's moments;
 * everything else is what each call says.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { advantages, update } from "arpo-lab/learn";
 * import { Model } from "arpo-lab/model";
 * import { score } from "arpo-lab/learn";
 * import { rollout } from "arpo-lab/rollout";
 * import { babbler } from "arpo-lab/experimental/testing";
 *
 * // Usually: await Policy.load("data/models/tiny"), which rolls out and is updated.
 * const sizes = { vocabSize: 128, hiddenSize: 8, intermediateSize: 16, layers: 1, heads: 2 };
 * const policy = { model: Model.init(sizes, 1) };
 * const tree = await rollout(babbler(), { prompt: "6*7?", groundTruth: "42" }, { n: 4, seed: 1 });
 * const batch = advantages(await score(tree, ({ response }) => response.length));
 * const report = await update(policy, batch, { learningRate: 1e-4 });
 * assert.equal(report.metrics["actor/lr"], 1e-4);
 * ```
 */
export async function update(
  policy: Trainable,
  batch: TrainingBatch,
  options: UpdateOptions = {},
): Promise<UpdateReport> {
  checkArguments(
    "update",
    { policy, batch, options },
    { policy: "object", batch: { rows: "list" }, options: "object" },
  );
  if (!("trainee" in policy)) checkArguments("update", { policy }, { policy: { model: "model" } });
  const trained = trainedOf(policy);
  let learner = learners.get(trained);
  if (!learner) {
    learner = new Learner(trained);
    learners.set(trained, learner);
  }
  return learner.update(batch, options);
}
