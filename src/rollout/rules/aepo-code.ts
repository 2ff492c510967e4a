import { changeOf, clamp, defineAttemptRule, show } from "./attempt.js";

/** s = clamp((u + w delta) max(0, 1 - slope c), 0, 1); branch unless s < p. */
export const aepoCode = defineAttemptRule({
  name: "aepo-code",
  title: "AEPO (code)",
  words: "after a call: as arpo-code, less after branches in a row",
  reads: ["probability", "weight", "penaltySlope"],
  draws: "large",
  verl: true,
  /** The dynamic budget is off, as in the published scripts; `dynamicRollouts: true` turns it on. */
  preset: {
    ...{ n: 16, initialRollouts: 8, beamSize: 2, branchProbability: 0.5, entropyWeight: 0.2 },
    ...{ callLimit: 6, dynamicRollouts: false },
  },
  decide(numbers, situation) {
    const { probability: p, weight: w, penaltySlope: slope } = numbers;
    const { u, consecutive } = situation;
    const { delta, change } = changeOf(numbers, situation);
    const factor = Math.max(0, 1 - slope * consecutive);
    const score = clamp((u + w * delta) * factor);
    const branch = !(score < p);
    const need = factor > 0 ? p / factor - w * delta : Infinity;
    const chance = p <= 0 ? 1 : p > 1 ? 0 : clamp(1 - need);
    const reason = `(u + w·ΔH)·penalty = (${show(u)} + ${change})·${show(factor)} = ${show(score)} is ${branch ? "not " : ""}below p = ${show(p)}`;
    return { branch, delta, score, bar: p, probability: chance, reason };
  },
  advice: ({ branchProbability: p }) =>
    p === 0 || p === 1
      ? [
          {
            id: "bar-not-probability",
            status: "warning",
            found: `branch_probability is a bar in aepo-code (1 - p is the probability): ${p} branches ${p === 0 ? "always" : "hardly ever"}`,
            fix: "0.5 is the published value, where both readings agree",
          },
        ]
      : [],
});
