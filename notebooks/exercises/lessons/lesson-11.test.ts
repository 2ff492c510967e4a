import { judgeAnswers } from "../testing/judge-answers.js";
import { lesson11 } from "./lesson-11.js";

judgeAnswers(lesson11, {
  "11 silent": {
    right: [[9], [9, 9]],
    wrong: [
      [[9, 12], /9 is one/],
      [[4], /never acts/],
      [[], /never acts/],
    ],
  },
  "11 direction": {
    right: [0.1, 1 - 0.9],
    wrong: [
      [0.9, /ARPO's reading/],
      [0.5, /you gave 0\.5/],
    ],
  },
  "11 means": {
    right: [{ token: 0.1, answer: 0.5 }],
    wrong: [
      [{ token: 0.5, answer: 0.1 }, /swapped/],
      [{ token: 1, answer: 0.5 }, /over 10 tokens/],
      [{ token: 0.1, answer: 1 }, /0 and 1/],
    ],
  },
  "11 forgotten": {
    right: [{ older: 0, fixed: 1 }],
    wrong: [
      [{ older: 1, fixed: 0 }, /swapped/],
      [{ older: 1, fixed: 1 }, /a mask of 0/],
      [{ older: 0, fixed: 0.5 }, /passed over/],
    ],
  },
});
