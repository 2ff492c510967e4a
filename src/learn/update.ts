import type { Model } from "../model/index.js";
import type { TrainingBatch } from "./batch.js";
import { Learner, type UpdateOptions } from "./learner.js";
import type { UpdateReport } from "./update-report.js";

/** One optimiser per model, so that updates made by hand in cells share its momentum. */
const learners = new WeakMap<Model, Learner>();

/**
 * One update of a policy, in place. Calls on the same policy go on with the same optimiser.
 */
export async function update(
  policy: { readonly model: Model },
  batch: TrainingBatch,
  options: UpdateOptions = {},
): Promise<UpdateReport> {
  let learner = learners.get(policy.model);
  if (!learner) {
    learner = new Learner(policy.model, options);
    learners.set(policy.model, learner);
  }
  return learner.update(batch, options);
}
