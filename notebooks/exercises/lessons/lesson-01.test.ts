import { judgeAnswers } from "../testing/judge-answers.js";
import { lesson01 } from "./lesson-01.js";

judgeAnswers(lesson01, {
  "01 uniform": {
    right: [Math.log(8), 2.08],
    wrong: [
      [3, /in bits/],
      [-2.079, /never negative/],
      [0.26, /one of the eight/],
      [1, /you gave 1/],
    ],
  },
  "01 entropy": {
    right: [(p) => -p.reduce((h, x) => h + (x > 0 ? x * Math.log(x) : 0), 0)],
    wrong: [
      [(p) => -p.reduce((h, x) => h + x * Math.log(x), 0), /leave such tokens out/],
      [(p) => -p.reduce((h, x) => h + (x > 0 ? x * Math.log2(x) : 0), 0), /in bits/],
      [(p) => p.reduce((h, x) => h + x * Math.log(x), 0), /for \(\[0\.5, 0\.5\]\) it gives -0\.69/],
      [() => 0, /for \(\[0\.5, 0\.5\]\) it gives 0/],
      [
        () => {
          throw new Error("oh");
        },
        /your answer threw Error: oh/,
      ],
    ],
  },
  "01 top-p": {
    right: [
      (p, P) => {
        let sum = 0;
        return p.toSorted((a, b) => b - a).findIndex((x) => (sum += x) >= P - 1e-9) + 1;
      },
    ],
    wrong: [
      [
        (p, P) => {
          let sum = 0;
          return p.findIndex((x) => (sum += x) >= P - 1e-9) + 1;
        },
        /sort it first/,
      ],
      [(p, P) => p.filter((x) => x >= P).length, /it gives/],
    ],
  },
});
