import type { ImportedRollouts } from "../import/imported-rollouts.js";
import { advantages } from "../learn/advantages.js";
import type { TrainingBatch } from "../learn/batch.js";
import type { Scored } from "../reward/scored.js";
import { explain } from "../view/explain/explain.js";

/** The advantages of one prompt's rows: the file's, or GRPO's from the scores. */
function batchOf(imported: ImportedRollouts, prompt: number, scored: Scored | undefined) {
  const own = imported.batchOf(prompt);
  if (own) return own;
  if (scored) return advantages(scored);
  throw new RangeError(
    "Cannot explain the objective: the file must carry scores, advantages or the right answer, got none of them",
  );
}

const hasLogprobs = ({ rows }: TrainingBatch) =>
  rows.every(({ trajectory }) =>
    trajectory.logprobs.every((value, t) => !trajectory.lossMask[t] || Number.isFinite(value)),
  );

/** The explainer of one prompt's tokens, as HTML. */
export function explained(
  imported: ImportedRollouts,
  prompt: number,
  scored: Scored | undefined,
): string {
  const batch = batchOf(imported, prompt, scored);
  if (!hasLogprobs(batch)) {
    throw new RangeError(
      "Cannot explain the objective: the file must carry the log-probability of every token the model wrote, got text alone. " +
        "`arpo-lab view FILE --policy MODEL` fills them in, on your machine.",
    );
  }
  const { tokenizer } = imported.tree(prompt);
  return explain(batch, tokenizer ? { tokenizer } : {}).html();
}
