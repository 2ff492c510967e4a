import { judgeAnswers } from "../testing/judge-answers.js";
import { lesson00 } from "./lesson-00.js";

judgeAnswers(lesson00, {
  "00 branches": {
    right: [(rows) => rows.filter((row) => row.kind === "branch").length],
    wrong: [
      [(rows) => rows.filter((row) => row.kind !== "initial").length, /no branch/],
      [(rows) => rows.length, /it gives 3, but should give 1/],
    ],
  },
  "00 mean": { right: [0.25], wrong: [[1, /you gave 1/]] },
});
