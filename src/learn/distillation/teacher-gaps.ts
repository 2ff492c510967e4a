import type { BatchSequence } from "../batch.js";

/** ln p of each token under a teacher less that under the policy; NaN where nobody was asked. */
export function teacherGaps({
  teacherLogprobs,
  oldLogprobs,
  trajectory: { tokens, lossMask },
}: Pick<BatchSequence, "teacherLogprobs" | "oldLogprobs" | "trajectory">): number[] {
  return Array.from(tokens, (_, t) =>
    teacherLogprobs && oldLogprobs && lossMask[t] ? teacherLogprobs[t]! - oldLogprobs[t]! : NaN,
  );
}
