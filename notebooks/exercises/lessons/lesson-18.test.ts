import { judgeAnswers } from "../testing/judge-answers.js";
import { lesson18, type TaughtAdvantage } from "./lesson-18.js";

const bounded = ({ gap, bound }: TaughtAdvantage) =>
  Math.sign(gap) * Math.min(Math.abs(gap), bound);

judgeAnswers(lesson18, {
  "18 gap": {
    right: [(tokens) => tokens.map((t) => Number(t.written) * (t.teacher - t.student))],
    wrong: [
      [(tokens) => tokens.map((t) => t.teacher - t.student), /A tool wrote/],
      [(tokens) => tokens.map((t) => Number(t.written) * (t.student - t.teacher)), /other way/],
    ],
  },
  "18 advantage": {
    right: [(one) => one.advantage + one.coefficient * bounded(one)],
    wrong: [
      [(one) => one.advantage + one.coefficient * one.gap, /The bound is not there/],
      [(one) => one.advantage - one.coefficient * bounded(one), /Turned round/],
    ],
  },
  "18 siblings": {
    right: [(scores) => scores.map((_, i) => scores.filter((_, j) => j !== i).some((s) => s >= 1))],
    wrong: [[(scores) => scores.map(() => scores.some((s) => s >= 1)), /read its own answer/]],
  },
});
