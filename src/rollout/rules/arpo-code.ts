import { changeOf, clamp, defineAttemptRule, show } from "./attempt.js";

/** s = clamp(u - w delta, 0, 1); branch unless s > p. */
export const arpoCode = defineAttemptRule({
  name: "arpo-code",
  title: "ARPO (code)",
  words: "after a call: entropy against the trajectory's first, and a draw",
  reads: ["probability", "weight"],
  draws: "small",
  verl: true,
  preset: {
    ...{ n: 16, initialRollouts: 8, beamSize: 2, branchProbability: 0.5, entropyWeight: 0.2 },
    callLimit: 3,
  },
  decide(numbers, situation) {
    const { probability: p, weight: w } = numbers;
    const { u } = situation;
    const { delta, change } = changeOf(numbers, situation);
    const score = clamp(u - w * delta);
    const branch = !(score > p);
    const chance = p >= 1 ? 1 : p < 0 ? 0 : clamp(p + w * delta);
    const reason = `u - w·ΔH = ${show(u)} - ${change} = ${show(score)} is ${branch ? "not " : ""}above p = ${show(p)}`;
    return { branch, delta, score, bar: p, probability: chance, reason };
  },
  advice: ({ branchProbability }) =>
    branchProbability === 0
      ? [
          {
            id: "never-branches",
            status: "warning",
            found: "branch_probability=0 branches only where entropy rises",
          },
        ]
      : [],
});
