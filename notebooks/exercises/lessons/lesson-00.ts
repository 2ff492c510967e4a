import type { TreeTrajectory } from "../../../src/rollout/tree/tree-values.js";
import { checkFunction, checkValue } from "../check.js";
import { rule } from "../rule.js";

const row = (kind: TreeTrajectory["kind"], number: number): TreeTrajectory => ({
  ...{ id: number, kind, round: 0, parent: kind === "branch" ? 0 : -1 },
  ...{ from: -1, leaf: number, end: "answer", calls: 0 },
});

/** The tour. */
export const lesson00 = {
  "00 branches": rule<(trajectories: TreeTrajectory[]) => number>({
    hint: "count the trajectories whose `kind` is `branch`.",
    check: (given) =>
      checkFunction(
        given,
        [
          [[[row("initial", 0), row("branch", 1), row("initial", 2)]], 1],
          [[[row("initial", 0), row("branch", 1), row("branch", 2), row("refill", 3)]], 2],
          [[[row("initial", 0)]], 0],
        ],
        {
          because: "the others began at the prompt: the first ones, and those refilled later.",
          off: ([trajectories], found) =>
            found === trajectories.filter(({ kind }) => kind !== "initial").length
              ? "A `refill` is a new root trajectory, made when all others had ended: no branch."
              : undefined,
        },
      ),
  }),
  "00 mean": rule<number>({
    hint: "add them up and divide by how many there are.",
    check: (given) =>
      checkValue(given, 0.25, {
        because:
          "so the one right trajectory is encouraged, and the three others are discouraged a little.",
      }),
  }),
};
