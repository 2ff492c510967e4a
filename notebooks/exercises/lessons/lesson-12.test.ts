import { relative, resolve } from "node:path";
import { deepResearch } from "../../../src/reward/rewards/deep-research.js";
import { judgeAnswers } from "../testing/judge-answers.js";
import { lesson12 } from "./lesson-12.js";

const reverse = (execute: (input: string) => string, tag = "reverse") => ({
  name: "reverse",
  tag,
  description: "Reverses.",
  execute,
});
const turned = (text: string) => [...text].reverse().join("");

judgeAnswers(lesson12, {
  "12 tool": {
    right: [reverse((input) => (input === "" ? "Nothing to reverse." : turned(input)))],
    wrong: [
      [reverse(turned), /an empty answer is a failure/],
      [reverse((input) => input || "Nothing to reverse."), /it says "abc"/],
      [reverse(turned, "turn"), /tag is turn/],
      [
        reverse(() => {
          throw new Error("oh");
        }),
        /the call fails \(oh\)/,
      ],
    ],
  },
  "12 short answers": {
    right: [
      (judged) => {
        const { score } = deepResearch(judged);
        return score > 0 ? score - 0.1 * Math.floor(judged.length / 50) : score;
      },
    ],
    wrong: [
      [(judged) => deepResearch(judged).score - judged.length / 500, /Math\.floor/],
      [
        (judged) => deepResearch(judged).score - 0.1 * Math.floor(judged.length / 50),
        /silence is cheapest/,
      ],
      [(judged) => deepResearch(judged).score, /50 tokens it gives 1/],
    ],
  },
  "12 guard": {
    right: [
      (folder, path) => resolve(folder, path).startsWith(`${folder}/`),
      (folder, path) => !relative(folder, resolve(folder, path)).startsWith(".."),
    ],
    wrong: [
      [() => true, /leads out/],
      [(_, path) => !path.includes(".."), /begins at the root, not/],
      [(_, path) => !path.includes("..") && !path.startsWith("/"), /stays in it/],
      [(folder, path) => resolve(folder, path).startsWith(folder), /another folder/],
      [() => false, /may be read/],
    ],
  },
});
