import * as exact from "../../exact/index.js";
import {
  checkOptions,
  notNegative,
  oneOf,
  type OptionRules,
} from "../../../arguments/check-options.js";
import { mean, scores } from "../advantage/estimator.js";
import type { Rows } from "../advantage/masked.js";
import { Credit, short, wholeTrajectory, perGroup, sampleNorm } from "./credit.js";

export interface Fr3eInput {
  rewards: Rows;
  mask: Rows;
  /** The state each trajectory was rolled out from. */
  states: readonly (string | number)[];
  /**
   * The rollout that each trajectory's state lies on; its states follow each other in the order of
   * trajectories.
   */
  bases: readonly (string | number)[];
}

export interface Fr3eOptions {
  /**
   * What a state is worth. Default: the share of its trajectories with a positive advantage, as the
   * code has it.
   */
  value?: "positive-share" | "mean-reward";
  /** Differences to the power of 1.5, over their sum. Default: true, as published. */
  sharpen?: boolean;
  /** Divide by the state's deviation first. Default: false, as published. */
  normalizeByDeviation?: boolean;
  epsilon?: number;
  /** Where nothing changes along a rollout, sharpening divides by 0; the reference keeps the NaN. */
  referenceNaN?: boolean;
}

export const fr3eRules: OptionRules<Fr3eOptions> = {
  value: oneOf(["positive-share", "mean-reward"]),
  sharpen: "boolean?",
  normalizeByDeviation: "boolean?",
  epsilon: notNegative,
  referenceNaN: "boolean?",
};

const power = 1.5;

function sharpened(deltas: readonly number[], referenceNaN: boolean): number[] {
  const powers = deltas.map((d) => Math.abs(d) ** power);
  const all = powers.reduce((sum, p) => sum + p, 0);
  if (all === 0 && !referenceNaN) return deltas.map(() => 0);
  return deltas.map((d, i) => Math.sign(d) * (powers[i]! / all));
}

/**
 * FR3E's credit: a trajectory against the others from its state, less where the state gained on the one before
 * it, more where it lost.
 */
export function fr3e(input: Fr3eInput, options: Fr3eOptions = {}): Credit {
  checkOptions("estimate advantages", options, fr3eRules);
  const { sharpen = true, normalizeByDeviation = false, epsilon = 1e-6 } = options;
  const { value = "positive-share", referenceNaN = false } = options;
  const { mask, states, bases } = input;
  const score = scores(input.rewards);
  const pools = perGroup(states, score);
  const norm = new Map([...pools].map(([state, pool]) => [state, sampleNorm(pool)]));
  const centred = score.map((r, i) => r - norm.get(states[i]!)!.centre);

  // The states along each rollout, and how each changes what the one before was worth.
  const scale = new Map<string | number, { delta: number; from: string }>();
  for (const trajectories of perGroup(
    bases,
    bases.map((_, i) => i),
  ).values()) {
    const along = [...new Set(trajectories.map((trajectory) => states[trajectory]!))];
    const worth = along.map((state) => {
      const own = trajectories.filter((trajectory) => states[trajectory] === state);
      return mean(
        own.map((trajectory) =>
          value === "mean-reward" ? score[trajectory]! : Number(centred[trajectory]! > 0),
        ),
      );
    });
    const plain = worth.map((v, j) => (j === 0 ? 1 - v : v - worth[j - 1]!));
    const deltas = sharpen ? sharpened(plain, referenceNaN) : plain;
    along.forEach((state, j) => {
      const before =
        j === 0 ? `1 - ${short(worth[0]!)}` : `${short(worth[j]!)} - ${short(worth[j - 1]!)}`;
      const from = sharpen
        ? `exp(-${short(deltas[j]!)}), sharpened from ${before}`
        : `exp(-(${before}))`;
      scale.set(state, { delta: deltas[j]!, from });
    });
  }
  return new Credit(
    score.map((own, trajectory) => {
      const { centre, width } = norm.get(states[trajectory]!)!;
      const { delta, from } = scale.get(states[trajectory]!)!;
      const factors = [{ name: "what its state gained", value: exact.exp(-delta), from }];
      if (normalizeByDeviation) {
        const by = width + epsilon;
        factors.push({
          name: "over the state's deviation",
          value: 1 / by,
          from: `1 / ${short(by)}`,
        });
      }
      return wholeTrajectory(mask, trajectory, {
        terms: [
          { name: "reward", value: own },
          { name: "mean of its state's trajectories", value: -centre },
        ],
        factors,
      });
    }),
    mask,
  );
}
