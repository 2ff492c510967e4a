import type { TreeTrajectory } from "../../../src/rollout/tree/tree-values.js";
import { agree, checkFunction } from "../check.js";
import { rule } from "../rule.js";

const trajectory = (id: number, kind: TreeTrajectory["kind"], parent = -1): TreeTrajectory => ({
  ...{ id, kind, round: 0, parent, from: -1, leaf: id, end: "answer", calls: 0 },
});

const fromPrompt = [
  trajectory(0, "initial"),
  trajectory(1, "branch", 0),
  trajectory(2, "branch", 1),
  trajectory(3, "refill"),
];
const nested = [...fromPrompt, trajectory(4, "branch", 2), trajectory(5, "branch", 3)];

/** Trajectories from the prompt to one, itself not counted. */
const depthOf = (all: readonly TreeTrajectory[], id: number): number => {
  const { parent } = all.find((one) => one.id === id)!;
  return parent < 0 ? 0 : 1 + depthOf(all, parent);
};

/** Which way GRPO moves a trajectory. */
export type Push = "up" | "down" | "none";

const mean = (x: readonly number[]) => x.reduce((sum, v) => sum + v, 0) / x.length;
const pushOf = (score: number, middle: number): Push =>
  score > middle ? "up" : score < middle ? "down" : "none";
const pushes = (scores: number[]): Push[] => scores.map((s) => pushOf(s, mean(scores)));

/** The tour. */
export const lesson00 = {
  "00 roots": rule<(trajectories: TreeTrajectory[]) => number>({
    hint: "print `tree.trajectories.map(({ kind }) => kind)`: which of these kinds share no beginning with another trajectory?",
    check: (given) =>
      checkFunction(
        given,
        [
          [[fromPrompt], 2],
          [[nested], 2],
          [[[trajectory(0, "initial"), trajectory(1, "initial")]], 2],
          [[[trajectory(0, "initial"), trajectory(1, "refill"), trajectory(2, "refill")]], 3],
        ],
        {
          because:
            "the initial ones, and the refills: a refill starts again at the prompt when too few trajectories branched.",
          off: ([all], found) => {
            const count = (kind: TreeTrajectory["kind"]) =>
              all.filter((one) => one.kind === kind).length;
            if (found === count("initial"))
              return "Those are the first ones. Does a `refill` share its beginning with another trajectory?";
            return found === count("branch") ? "Those are the ones that branched." : undefined;
          },
        },
      ),
  }),
  "00 depth": rule<(trajectories: TreeTrajectory[], id: number) => number>({
    hint: "a trajectory's `parent` is the id of the one that it branched from, and -1 at the prompt. A parent has a parent too.",
    check: (given) =>
      checkFunction(
        given,
        [
          [[nested, 0], 0],
          [[nested, 1], 1],
          [[nested, 2], 2],
          [[nested, 3], 0],
          [[nested, 4], 3],
          [[nested, 5], 1],
        ],
        {
          because:
            "each of them added its own part to the beginning that this trajectory continues.",
          off: ([all, id], found) =>
            found === 1 && depthOf(all, id) > 1
              ? "Its parent is a branch as well: follow the parents to the prompt."
              : undefined,
        },
      ),
  }),
  "00 pushes": rule<(scores: number[]) => Push[]>({
    hint: "no score is good or bad by itself: what does GRPO compare it with?",
    check: (given) =>
      checkFunction(
        given,
        [
          [[[1, 0, 0, 0]], pushes([1, 0, 0, 0])],
          [[[0, -1, -1, -1]], pushes([0, -1, -1, -1])],
          [[[1.1, 1, 1, 1.1]], pushes([1.1, 1, 1, 1.1])],
          [[[0, 0, 0]], pushes([0, 0, 0])],
          [[[1, 0, 0.5]], pushes([1, 0, 0.5])],
        ],
        {
          because:
            "a wrong answer is pushed up where all others are worse, a right one down where others are better.",
          off: ([scores], found) =>
            agree(
              found,
              scores.map((s) => pushOf(s, 0)),
            )
              ? "That compares with 0. GRPO compares with the group's mean."
              : undefined,
        },
      ),
  }),
};
