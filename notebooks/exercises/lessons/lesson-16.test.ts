import { judgeAnswers } from "../testing/judge-answers.js";
import { lesson16, type WorthNode } from "./lesson-16.js";

const mean = (x: number[]) => x.reduce((sum, v) => sum + v, 0) / x.length;
const byChildren = ({ score, children }: WorthNode): number =>
  score ?? mean((children ?? []).map(byChildren));
const leaves = ({ score, children }: WorthNode): number[] =>
  score === undefined ? (children ?? []).flatMap(leaves) : [score];

judgeAnswers(lesson16, {
  "16 worth": {
    right: [byChildren],
    wrong: [
      [(node) => mean(leaves(node)), /each child counts once/],
      [({ score = 0 }) => score, /it gives/],
    ],
  },
  "16 gain": {
    right: [0.5],
    wrong: [
      [0.75, /RLOO/],
      [1, /you gave 1/],
    ],
  },
  "16 padded": {
    right: [(turns) => turns.map((own) => own - mean(turns))],
    wrong: [
      [(turns) => turns.map(() => 0), /turn-index/],
      [
        (turns) =>
          turns.map((own) => own - (mean(turns) * turns.length - own) / (turns.length - 1)),
        /leave-one-out/,
      ],
      [(turns) => turns, /it gives/],
    ],
  },
  "16 rule": {
    right: ["spo_tree"],
    wrong: [
      ["mt_grpo", /needs turns/],
      ["grpo", /every token/],
    ],
  },
});
