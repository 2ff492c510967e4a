import { judgeAnswers } from "../testing/judge-answers.js";
import { lesson05 } from "./lesson-05.js";

const mean = (x: number[]) => x.reduce((a, b) => a + b, 0) / x.length;
const squares = (x: number[]) => x.reduce((a, s) => a + (s - mean(x)) ** 2, 0);

judgeAnswers(lesson05, {
  "05 grpo": {
    right: [(s) => s.map((x) => (x - mean(s)) / (Math.sqrt(squares(s) / (s.length - 1)) + 1e-6))],
    wrong: [
      [
        (s) => s.map((x) => (x - mean(s)) / (Math.sqrt(squares(s) / s.length) + 1e-6)),
        /n - 1, not n/,
      ],
      [(s) => s.map((x) => (x - mean(s)) / Math.sqrt(squares(s) / (s.length - 1))), /1e-6/],
      [(s) => s.map((x) => x - mean(s)), /it gives \[0\.75/],
    ],
  },
  "05 rloo": {
    right: [-1],
    wrong: [
      [-2 / 3, /leaves the trajectory itself out/],
      [1, /sign/],
      [0, /you gave 0/],
    ],
  },
  "05 returns": {
    right: [(rewards) => rewards.map((_, t) => rewards.slice(t).reduce((a, b) => a + b, 0))],
    wrong: [
      [
        (rewards) => rewards.map((_, t) => rewards.slice(0, t + 1).reduce((a, b) => a + b, 0)),
        /to the end/,
      ],
      [(rewards) => rewards, /it gives/],
    ],
  },
  "05 hard": {
    right: [0.5],
    wrong: [
      [1, /their sum/],
      [1.5, /you gave 1\.5/],
    ],
  },
});
