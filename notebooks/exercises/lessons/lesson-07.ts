import { tokenUpdate } from "../../../src/learn/losses/token-update.js";
import { dynamicBudget } from "../../../src/rollout/branch/dynamic-budget.js";
import { checkFunction, checkValue } from "../check.js";
import { rule } from "../rule.js";

const factor = (ratio: number, advantage: number, entropyBalancedClipping = true) =>
  tokenUpdate(ratio, advantage, { entropyBalancedClipping }).weight;

const places = [0.5, 0.79, 0.9, 1, 1.1, 1.21, 2, 3.5].flatMap((ratio) => [
  [ratio, 1] as [number, number],
  [ratio, -1] as [number, number],
]);

/** AEPO. */
export const lesson07 = {
  "07 factor": rule<(ratio: number, advantage: number) => number>({
    hint: "four cases, as in the table: which ones give 0, which one gives 1.2, and what do the others give?",
    check: (given) =>
      checkFunction(
        given,
        places.map(([ratio, advantage]) => [[ratio, advantage], factor(ratio, advantage)] as const),
        {
          because: "one cell differs from PPO's: A > 0 and r > 1.2 keeps 1.2 instead of 0.",
          off: ([ratio, advantage], found) => {
            if (found === factor(ratio, advantage, false))
              return "That is PPO's; AEPO keeps this one.";
            if (advantage < 0 && ratio < 0.8)
              return "Below the lower bound AEPO drops the gradient, as PPO does.";
            if (advantage < 0 && ratio > 3) return "Beyond 3 the dual clip drops it.";
            return found === 1
              ? "Where nothing is clipped the factor is the ratio itself."
              : undefined;
          },
        },
      ),
  }),
  "07 count": rule<number>({
    hint: "which of the two kinds does AEPO rescue?",
    check: (given) =>
      checkValue(given, 60, {
        because: "AEPO rescues only the 40 above the upper bound.",
        off: (x) => {
          if (x === 100) return "that is PPO's count.";
          return x === 40 ? "those are the ones it rescues." : undefined;
        },
      }),
  }),
  "07 budget": rule<(n: number, root: number, meanOfSteps: number) => number>({
    hint: "σ(x) is 1 / (1 + e^-x); Math.trunc(n σ(0.5 (root - mean))) + 1, and at most n.",
    check: (given) =>
      checkFunction(
        given,
        (
          [
            [16, 1, 1],
            [16, 3, 1],
            [16, 1, 3],
            [12, 2.25, 1.17],
            [4, 100, 0],
            [8, 0, 100],
          ] as const
        ).map(
          ([n, root, mean]) =>
            [[n, root, mean], dynamicBudget(n, root, [mean]).initialRollouts] as const,
        ),
        {
          because: "and with gaps below 1 it stays within two trajectories of the middle.",
          off: ([n], found, wanted) => {
            if (found > n) return "There are only n trajectories: take the smaller of the two.";
            if (!Number.isInteger(found)) return "Trajectories are whole: cut off the fraction.";
            return found === wanted - 1
              ? "The code adds 1 after cutting off the fraction."
              : undefined;
          },
        },
      ),
  }),
};
