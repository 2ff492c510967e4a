import { judgeAnswers } from "../testing/judge-answers.js";
import { lesson10 } from "./lesson-10.js";

const mean = (x: number[]) => x.reduce((a, b) => a + b, 0) / x.length;
const squares = (x: number[]) => x.reduce((a, v) => a + (v - mean(x)) ** 2, 0);

judgeAnswers(lesson10, {
  "10 interval": {
    right: [(x) => (4.303 * Math.sqrt(squares(x) / 2)) / Math.sqrt(3)],
    wrong: [
      [(x) => (4.303 * Math.sqrt(squares(x) / 3)) / Math.sqrt(3), /n - 1/],
      [(x) => 4.303 * Math.sqrt(squares(x) / 2), /root of n/],
      [(x) => (1.96 * Math.sqrt(squares(x) / 2)) / Math.sqrt(3), /should give 0\.248/],
    ],
  },
  "10 paired": {
    right: [{ paired: true, unpaired: false }],
    wrong: [
      [{ paired: false, unpaired: false }, /differences B - A/],
      [{ paired: true, unpaired: true }, /0\.6 ± 0\.25/],
    ],
  },
  "10 plan": {
    right: ["6 seeds each"],
    wrong: [
      ["1 seed each with 6 learning rates", /luckiest/],
      ["3 seeds each, then 3 more for the better one", /gets published/],
    ],
  },
});
