import { judgeAnswers } from "../testing/judge-answers.js";
import { lesson02 } from "./lesson-02.js";

judgeAnswers(lesson02, {
  "02 content": {
    right: ["2 + 2"],
    wrong: [
      ["<python>2 + 2</python>", /tags themselves/],
      ["1", /first call/],
      [" 2 + 2 ", /white space/],
      ["4", /you gave "4"/],
    ],
  },
  "02 mask": {
    right: [
      (stretches) =>
        stretches.flatMap(({ kind, tokens }) =>
          new Array<number>(tokens).fill(kind === "model" ? 1 : 0),
        ),
    ],
    wrong: [
      [(stretches) => stretches.map(({ kind }) => (kind === "model" ? 1 : 0)), /2 in all/],
      [
        (stretches) => stretches.flatMap(({ tokens }) => new Array<number>(tokens).fill(1)),
        /gives/,
      ],
    ],
  },
  "02 outage": {
    right: ["set aside"],
    wrong: [
      ["punish", /did not cause/],
      ["reward", /then guess/],
    ],
  },
});
