import * as exact from "../../base/exact/index.js";
import { checkOptions, notNegative } from "../../../common/options/check-options.js";
import { choice, flag, rulesOf, type ValuesOf } from "../../../common/options/setting.js";
import { mean, scores } from "./base/estimator.js";
import type { Rows } from "../masked.js";
import {
  type CreditTrajectory,
  prefixNames,
  prompts,
  trajectoryFinder,
} from "./adapt/credit-trajectories.js";
import { defineEstimator } from "./definition.js";
import { Credit, type CreditSpan, short, wholeTrajectory, perGroup, sampleNorm } from "./credit.js";

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

/** Its settings as published. */
const settings = {
  /** What a state is worth: the share of its trajectories with a positive advantage, as the code has it. */
  value: choice(
    ["positive-share", "mean-reward"],
    "positive-share",
    "What a state is worth: by the code, by the paper",
  ),
  sharpen: flag(true, "Differences to the power of 1.5, over their sum"),
  /** Divide by the state's deviation first. */
  normalizeByDeviation: flag(false, "Divide by the group's deviation"),
};

/** What only code can say. */
const besides = { epsilon: notNegative };

export type Fr3eOptions = Partial<ValuesOf<typeof settings>> & {
  epsilon?: number;
  /** Where nothing changes along a rollout, sharpening divides by 0; the reference keeps the NaN. */
  referenceNaN?: boolean;
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
  checkOptions("estimate advantages", options, {
    ...{ ...rulesOf(settings), ...besides, referenceNaN: "boolean?" },
  });
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

const baseOf = (found: number, trajectory: number) => (found >= 0 ? found : -2 - trajectory);

/** What a trajectory was rolled out from: the prompt, or what it has in common with the trajectory it left. */
interface State {
  name: string;
  /** Tokens before it. */
  at: number;
  trajectories: number[];
  /** The trajectory it lies on, below -1 where that is not scored; -1 for the prompt. */
  base: number;
}

function statesOf(trajectories: readonly CreditTrajectory[], own: readonly number[]): State[] {
  const name = prefixNames(trajectories);
  const find = trajectoryFinder(trajectories);
  const states = new Map<string, State>();
  for (const trajectory of own) {
    const { initial, shared, tree, parent, scored } = trajectories[trajectory]!;
    // An anchor at the first token is a state besides the prompt.
    const { token } = tree.trajectories[scored.trajectory.id]!.chosen ?? {};
    const key = initial
      ? "prompt"
      : `${name(trajectory, shared)}${token === undefined ? "" : " anchor"}`;
    const state = states.get(key) ?? {
      ...{ name: key, at: initial ? 0 : shared, trajectories: [] },
      // One that was left and is not trained on has a number of its own.
      base: initial ? -1 : baseOf(find(tree, parent), parent),
    };
    state.trajectories.push(trajectory);
    states.set(key, state);
  }
  return [...states.values()];
}

export const fr3eEstimator = defineEstimator<{ epsilon?: number }>()({
  name: "fr3e",
  meaning: "among its state's trajectories, by what the state gained",
  formula: "(score - mean of the state's rollouts), scaled by the change of value between states",
  settings: {
    ...settings,
    dropSettled: flag(true, "Leave out states whose trajectories all got the same"),
  },
  besides,
  preset: {
    name: "fr3e",
    update: { loss: "vanilla", clipRatioLow: 0.2, clipRatioHigh: 0.3, aggregation: "token-mean" },
  },
  advice: ({ rule }) =>
    rule === "fr3e"
      ? []
      : [
          {
            id: "states-unequal",
            status: "error",
            found: `fr3e compares states with as many trajectories each, and lab.branch_rule=${rule} makes what it makes: the first step stops`,
            fix: "lab.branch_rule=fr3e",
          },
        ],
  spans({ trajectories, rewards, mask }, { dropSettled = true, ...options }) {
    const out: CreditSpan[][] = trajectories.map(() => []);
    for (const own of prompts(trajectories)) {
      const states = statesOf(trajectories, own);
      const [first] = states;
      const odd = states.find((state) => state.trajectories.length !== first!.trajectories.length);
      if (odd) {
        const where = `after token ${odd.at} of trajectory ${trajectories[odd.base]?.scored.trajectory.id ?? 0}`;
        throw new RangeError(
          `Cannot use fr3e: every state must have as many trajectories as the others, got ${first!.trajectories.length} at the prompt and ${odd.trajectories.length} ${where} of ${trajectories[own[0]!]!.group}`,
        );
      }
      const settled = (state: State) =>
        dropSettled &&
        state.trajectories.every(
          (trajectory) =>
            trajectories[trajectory]!.reward === trajectories[state.trajectories[0]!]!.reward,
        );
      const prompt = states.filter(({ base }) => base === -1);
      const bases = [...new Set(states.flatMap(({ base }) => (base === -1 ? [] : [base])))];
      // The states along each trajectory that was left, its own first; the prompt's trajectories count with
      // every one.
      for (const base of bases.length > 0 ? bases : [-1]) {
        const along = [
          ...(base === -1 ? prompt : states.filter((state) => state.trajectories.includes(base))),
          ...states
            .filter((state) => base !== -1 && state.base === base)
            .sort((a, b) => a.at - b.at),
        ].filter((state) => !settled(state));
        const listed = along.flatMap((state) =>
          state.trajectories.map((trajectory) => ({ trajectory, name: state.name })),
        );
        const { spans } = fr3e(
          {
            rewards: listed.map(({ trajectory }) => rewards[trajectory]!),
            mask: listed.map(({ trajectory }) => mask[trajectory]!),
            states: listed.map(({ name }) => name),
            bases: listed.map(() => base),
          },
          options,
        );
        listed.forEach(({ trajectory }, i) => {
          if (out[trajectory]!.length === 0) out[trajectory] = [...spans[i]!];
        });
      }
    }
    return out;
  },
});
