import { ask, checkFunction } from "../check.js";
import { rule } from "../rule.js";
import { right, wrong } from "../verdict.js";

/** How much of its tokens a trajectory wrote itself. */
export interface RowLength {
  own: number;
  inherited: number;
}

/** Branching. */
export const lesson03 = {
  "03 chance": rule<(p: number, w: number, delta: number) => number>({
    hint: "it branches when u - w ΔH is not above p, and u is uniform between 0 and 1.",
    check: (given) =>
      checkFunction(
        given,
        [
          [[0.5, 0.2, 0], 0.5],
          [[0.5, 0.2, 1], 0.7],
          [[0.5, 0.2, -1], 0.3],
          [[0.5, 0.2, 4], 1],
          [[0.25, 0.5, -2], 0],
        ],
        {
          because: "p alone is the chance where nothing changed; entropy tilts it by w per unit.",
          off: (_, found) =>
            found > 1 || found < 0 ? "A chance is never below 0 or above 1: clamp it." : undefined,
        },
      ),
  }),
  "03 decide": rule<boolean>({
    hint: "ΔH is 1; compare u - 0.2 ΔH with 0.5.",
    check: (given) =>
      given
        ? right("0.65 - 0.2 · 1 = 0.45 is not above 0.5. Without the risen entropy, 0.65 would be.")
        : wrong("put the numbers in: u - w ΔH = 0.65 - 0.2 · 1 = 0.45, and p = 0.5."),
  }),
  "03 saved": rule<(rows: RowLength[]) => number>({
    hint: "independent trajectories would write own + inherited each; the tree writes only own.",
    check: (given) => {
      const verdict = checkFunction(
        given,
        [
          [[[{ own: 100, inherited: 0 }]], 0],
          [
            [
              [
                { own: 100, inherited: 0 },
                { own: 50, inherited: 50 },
              ],
            ],
            0.25,
          ],
        ],
        {
          because: "",
          off: (_, found, wanted) =>
            Math.abs(found - (1 - wanted)) < 1e-9
              ? "That is the share it still writes; asked is the share it saves."
              : undefined,
        },
      );
      if (verdict.state !== "right") return verdict;
      const rows = [
        { own: 80, inherited: 0 },
        { own: 10, inherited: 70 },
        { own: 10, inherited: 70 },
      ];
      return Math.abs(ask(given, rows) - 140 / 240) < 1e-6
        ? right("and the later a trajectory branches, the more it saves, and the less it differs.")
        : wrong(
            "with three trajectories it is off: add up over all trajectories first, divide once.",
          );
    },
  }),
};
