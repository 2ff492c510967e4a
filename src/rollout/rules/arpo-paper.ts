import { defineAttemptRule, overThreshold } from "./attempt.js";

/** P = p + w delta; branch iff P > tau. */
export const arpoPaper = defineAttemptRule({
  name: "arpo-paper",
  title: "ARPO (paper)",
  words: "after a call: entropy against the trajectory's first, over a threshold",
  reads: ["probability", "weight", "threshold"],
  draws: "none",
  decide: (numbers, situation) => overThreshold(numbers, situation),
});
