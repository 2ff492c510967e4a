import { defineAttemptRule, overThreshold } from "./attempt.js";

/** P = (p + w delta)(1 - slope c); branch iff P > tau. */
export const aepoPaper = defineAttemptRule({
  name: "aepo-paper",
  title: "AEPO (paper)",
  words: "after a call: as arpo-paper, less after branches in a row",
  reads: ["probability", "weight", "threshold", "penaltySlope"],
  draws: "none",
  decide: (numbers, situation) =>
    overThreshold(numbers, situation, 1 - numbers.penaltySlope * situation.consecutive),
});
