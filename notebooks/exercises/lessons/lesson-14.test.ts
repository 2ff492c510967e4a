import { judgeAnswers } from "../testing/judge-answers.js";
import { lesson14 } from "./lesson-14.js";

judgeAnswers(lesson14, {
  "14 bits": {
    right: [5],
    wrong: [
      [4, /offset are kept/],
      [4.5, /no offset/],
      [6, /you gave 6/],
    ],
  },
  "14 country": {
    right: ["the facts"],
    wrong: [
      ["the tags", /are the same/],
      ["the wordings", /held out/],
    ],
  },
});
