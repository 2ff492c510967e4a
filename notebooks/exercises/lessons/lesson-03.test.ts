import { judgeAnswers } from "../testing/judge-answers.js";
import { lesson03 } from "./lesson-03.js";

const sum = (values: number[]) => values.reduce((a, b) => a + b, 0);

judgeAnswers(lesson03, {
  "03 chance": {
    right: [(p, w, delta) => Math.min(1, Math.max(0, p + w * delta))],
    wrong: [
      [(p, w, delta) => p + w * delta, /clamp it/],
      [(p, w, delta) => Math.min(1, Math.max(0, p - w * delta)), /should give 0\.7/],
    ],
  },
  "03 decide": { right: [true], wrong: [[false, /0\.45/]] },
  "03 saved": {
    right: [
      (rows) => sum(rows.map((r) => r.inherited)) / sum(rows.map((r) => r.own + r.inherited)),
    ],
    wrong: [
      [
        (rows) => sum(rows.map((r) => r.own)) / sum(rows.map((r) => r.own + r.inherited)),
        /still writes/,
      ],
      // The mean of shares happens to agree where all trajectories are equally long.
      [(rows) => sum(rows.map((r) => r.inherited)) / (100 * rows.length), /three trajectories/],
    ],
  },
});
