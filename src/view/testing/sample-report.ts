import type { TrainingBatch } from "../../learn/batch.js";
import { UpdateReport } from "../../learn/update/update-report.js";
import type { UpdateOptions } from "../../learn/update/update-settings.js";
import { Random } from "../../base/random/random.js";
import { grpoBatch } from "./sample-batch.js";

/** What an update might have left behind, without a model: ratios drawn so that every region occurs. */
export async function sampleReport(
  options: UpdateOptions = {},
  given?: TrainingBatch,
): Promise<UpdateReport> {
  const batch = given ?? (await grpoBatch()).batch;
  const random = Random.from(11);
  for (const row of batch.trajectories) {
    // An end token put by the rules was not sampled; an update computes its probability too.
    row.oldLogprobs = row.trajectory.logprobs.map((old) => (Number.isNaN(old) ? -1 : old));
    row.entropies = row.trajectory.entropies;
    row.newLogprobs = row.oldLogprobs.map((old) => old + 0.6 * random.normal());
  }
  return new UpdateReport({ "actor/pg_loss": 0 }, batch, options, 0);
}
