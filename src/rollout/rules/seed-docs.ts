import { clamp, defineAttemptRule, show } from "./attempt.js";

/** Branch iff H > w H_base and u < p. */
export const seedDocs = defineAttemptRule({
  name: "seed-docs",
  title: "ARPO (docs)",
  words: "after a call: entropy over a share of the trajectory's first, and a draw",
  reads: ["probability", "weight"],
  draws: "small",
  decide({ probability: p, weight: w }, { u, entropy, baseline }) {
    const high = entropy > w * baseline;
    const branch = high && u < p;
    const reason = `H = ${show(entropy)} is ${high ? "" : "not "}above w·H_base = ${show(w)}·${show(baseline)}, u = ${show(u)} is ${u < p ? "" : "not "}below p = ${show(p)}`;
    const delta = entropy - baseline;
    return { branch, delta, score: u, bar: p, probability: high ? clamp(p) : 0, reason };
  },
});
