import { judgeAnswers } from "../testing/judge-answers.js";
import { lesson13 } from "./lesson-13.js";

judgeAnswers(lesson13, {
  "13 pass at 2": {
    right: [(n: number, c: number) => 1 - ((n - c) * (n - c - 1)) / (n * (n - 1))],
    wrong: [
      [(n: number, c: number) => 1 - ((n - c) / n) ** 2, /puts the first answer back/],
      [(n: number, c: number) => c / n, /should give 0\.5/],
    ],
  },
  "13 f1": {
    right: [0.5],
    wrong: [
      [0.4, /article/],
      [1 / 3, /first of the two/],
      [1, /you gave 1/],
    ],
  },
  "13 claims": {
    right: [{ aime: "too close", large: "better" }],
    wrong: [
      [{ aime: "better", large: "better" }, /overlap/],
      [{ aime: "too close", large: "too close" }, /five points wide/],
    ],
  },
});
