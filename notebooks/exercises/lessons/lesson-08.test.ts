import { judgeAnswers } from "../testing/judge-answers.js";
import { lesson08 } from "./lesson-08.js";

const surprises = (p: number[], labels: number[]) =>
  p.reduce((sum, x, i) => sum + (labels[i] === -100 ? 0 : -Math.log(x)), 0);
const own = (labels: number[]) => labels.filter((label) => label !== -100).length;

judgeAnswers(lesson08, {
  "08 initial loss": {
    right: [Math.log(1000), 6.908],
    wrong: [
      [-6.908, /sign/],
      [9.966, /bits/],
      [0.001, /you gave/],
    ],
  },
  "08 cross-entropy": {
    right: [(p, labels) => surprises(p, labels) / own(labels)],
    wrong: [
      [(p, labels) => surprises(p, labels) / p.length, /number of labels/],
      [(p, labels) => -surprises(p, labels) / own(labels), /sign/],
      [(p) => p.reduce((sum, x) => sum - Math.log(x), 0) / p.length, /it gives/],
    ],
  },
  "08 results": {
    right: ["to make up results"],
    wrong: [
      ["to search less", /labelled tokens/],
      ["to think longer", /labelled tokens/],
    ],
  },
});
