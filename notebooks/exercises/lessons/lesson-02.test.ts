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
  "02 sound": {
    right: [
      (all) => all.filter(({ calls }) => calls.every(({ ok }) => ok)).map(({ id }) => id),
      (all) => all.filter(({ calls }) => !calls.some(({ failure }) => failure)).map(({ id }) => id),
    ],
    wrong: [
      [
        (all) =>
          all
            .filter(({ calls, score }) => score > 0 || calls.every(({ ok }) => ok))
            .map(({ id }) => id),
        /was a guess/,
      ],
      [
        (all) =>
          all
            .filter(({ calls }) => calls.every(({ text }) => text.startsWith("Page")))
            .map(({ id }) => id),
        /Finding nothing is an answer/,
      ],
      [(all) => all.filter(({ score }) => score > 0).map(({ id }) => id), /wrong answers as well/],
      [(all) => all.map(({ id }) => id), /but should give/],
    ],
  },
});
