import { judgeAnswers } from "../testing/judge-answers.js";
import { lesson15 } from "./lesson-15.js";

const mean = (x: number[]) => x.reduce((sum, v) => sum + v, 0) / x.length;
const pick = (entropies: number[], keep: (t: number) => boolean) =>
  mean(entropies.filter((_, t) => keep(t)));

judgeAnswers(lesson15, {
  "15 rise": {
    right: [
      (e, after, k) => pick(e, (t) => (after[t] ?? 0) < k) - pick(e, (t) => !((after[t] ?? 0) < k)),
    ],
    wrong: [
      [(e, after, k) => pick(e, (t) => (after[t] ?? 0) < k) - mean(e), /not all tokens/],
      [
        (e, after, k) => pick(e, (t) => (after[t] ?? 0) <= k) - pick(e, (t) => (after[t] ?? 0) > k),
        /0 to k - 1/,
      ],
      [(e) => mean(e), /it gives/],
    ],
  },
  "15 concentration": {
    right: [3],
    wrong: [
      [0.6, /compare it/],
      [0.15, /other way round/],
      [1, /you gave 1/],
    ],
  },
  "15 claim": {
    right: ["nothing"],
    wrong: [
      ["they gather at calls", /holds 1/],
      ["uncertain tokens do not gather at calls", /able to fail/],
    ],
  },
});
