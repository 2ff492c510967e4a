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
  "14 memory": {
    right: [2152, 134.5 * 16],
    wrong: [
      [538, /weights alone/],
      [1076, /two averages/],
      [1614, /one of the four/],
      [98, /you gave 98/],
    ],
  },
  "14 held out": {
    right: [
      (train, test) =>
        test.filter(
          ({ about, wording }) =>
            !train.some((seen) => seen.about === about || seen.wording === wording),
        ),
    ],
    wrong: [
      [
        (train, test) => test.filter(({ about }) => !train.some((seen) => seen.about === about)),
        /words of training/,
      ],
      [
        (train, test) =>
          test.filter(({ wording }) => !train.some((seen) => seen.wording === wording)),
        /about something in training/,
      ],
      [
        (train, test) =>
          test.filter(
            ({ about, wording }) =>
              !train.some((seen) => seen.about === about && seen.wording === wording),
          ),
        /either one/,
      ],
    ],
  },
});
