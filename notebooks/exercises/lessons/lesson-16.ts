import { turnBaseline } from "../../../src/learn/estimators/turn-baseline.js";
import { agree, checkFunction, checkValue } from "../check.js";
import { rule } from "../rule.js";
import { right, wrong } from "../verdict.js";

/** A place of a tree: a leaf with its score, or where it continues. */
export interface WorthNode {
  score?: number;
  children?: WorthNode[];
}

const mean = (x: readonly number[]) => x.reduce((sum, v) => sum + v, 0) / x.length;
const worth = ({ score, children }: WorthNode): number =>
  score ?? mean((children ?? []).map(worth));
const leaves = ({ score, children }: WorthNode): number[] =>
  score === undefined ? (children ?? []).flatMap(leaves) : [score];

const leaf = (score: number): WorthNode => ({ score });
const lopsided = { children: [{ children: [leaf(1), leaf(1), leaf(1)] }, leaf(0), leaf(0)] };

/** What the first turn gets where every turn earns 1. */
const firstTurns = (turns: number[]) =>
  turnBaseline(
    turns.map((count) => new Array<number>(count).fill(1)),
    turns.map(() => "q"),
  ).map(([first]) => first!.terms.reduce((sum, { value }) => sum + value, 0));

/** Which token earned it? */
export const lesson16 = {
  "16 worth": rule<(node: WorthNode) => number>({
    hint: "a leaf has a score; for another node call yourself for each child, and take the mean.",
    check: (given) =>
      checkFunction(
        given,
        [
          [[leaf(0)], 0],
          [[{ children: [leaf(1), leaf(0)] }], 0.5],
          [[lopsided], 1 / 3],
          [[{ children: [lopsided, leaf(-1)] }], -1 / 3],
        ],
        {
          because: "each way on counts once, however many trajectories go through it.",
          off: ([node], found) =>
            found !== worth(node) && agree(found, mean(leaves(node)))
              ? "That is the mean of all leaves below; each child counts once, however many leaves it has."
              : undefined,
        },
      ),
  }),
  "16 gain": rule<number>({
    hint: "its worth, less the worth of the node that it continues from.",
    check: (given) =>
      checkValue(given, 0.5, {
        because: "it is worth 1, and where it parts the worth is the mean of three, 0.5.",
        off: (x) =>
          agree(x, 0.75) ? "that compares with the others alone, as RLOO does." : undefined,
      }),
  }),
  "16 padded": rule<(turns: number[]) => number[]>({
    hint: "a trajectory of T turns earns T; what do the trajectories earn on average?",
    check: (given) =>
      checkFunction(
        given,
        [
          [1, 2, 3, 4],
          [2, 2],
          [1, 5],
        ].map((turns) => [[turns], firstTurns(turns)] as const),
        {
          because: "T less the mean of T: a trajectory that earns more by going on is told so.",
          off: ([turns], found) => {
            if (found.every((value) => value === 0) && firstTurns(turns).some((v) => v !== 0))
              return "That is `turn-index`: trajectories that have ended must count, as 0.";
            const sum = turns.reduce((a, b) => a + b, 0);
            const others = turns.map((own) => own - (sum - own) / (turns.length - 1));
            return agree(found, others)
              ? "That compares with the other trajectories alone: `leave-one-out`."
              : undefined;
          },
        },
      ),
  }),
  "16 rule": rule<"grpo" | "mt_grpo" | "spo_tree">({
    hint: "one of them looks at forks, one at turns, one at neither.",
    check: (given) => {
      if (given === "spo_tree") return right("it needs nothing but forks and scores.");
      return given === "mt_grpo"
        ? wrong("it needs turns with rewards, and says so in an error.")
        : wrong("it pays every token of a trajectory the same, wherever trajectories part.");
    },
  }),
};
