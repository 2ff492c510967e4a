import { deepResearch } from "../../../src/reward/rewards/deep-research.js";
import { judgeAnswers } from "../testing/judge-answers.js";
import { lesson04 } from "./lesson-04.js";

const ok = "<think>a</think><answer>\\boxed{Oslo}</answer>";

judgeAnswers(lesson04, {
  "04 score": {
    right: [0.5],
    wrong: [
      [0.333, /recall/],
      [1, /precision/],
      [0.6, /no bonus/],
      [0.25, /you gave 0\.25/],
    ],
  },
  "04 hack": {
    right: [`<think></search></python></think>${ok}`, `${ok}</python></search>`],
    wrong: [
      [ok, /it scores 1/],
      ["<think>a</search></python></think><answer>\boxed{Oslo}</answer>", /backspace/],
      [
        `<search>a</search> <result>b</result><python>1</python> <result>1</result>${ok}`,
        /opens a/,
      ],
      ["</search></python>", /it scores -1/],
    ],
  },
  "04 honest bonus": {
    right: [
      (judged) => {
        const { parts } = deepResearch(judged);
        if (!parts!["format"]) return -1;
        const did = (tag: string) => judged.toolCalls.some((c) => c.tag === tag && c.ok);
        const f1 = parts!["f1_score"]!;
        return f1 + (f1 > 0 && did("search") && did("python") ? 0.1 : 0);
      },
    ],
    wrong: [
      [(judged) => deepResearch(judged).score, /only writes the closing tags it gives 1\.1/],
      [(judged) => deepResearch(judged).parts!["f1_score"]!, /after both tools it gives 1, /],
      [
        (judged) => {
          const { parts } = deepResearch(judged);
          const tags = new Set(judged.toolCalls.map((c) => c.tag));
          return parts!["f1_score"]! + (tags.size === 2 ? 0.1 : 0);
        },
        /search that failed it gives 1\.1/,
      ],
    ],
  },
  "04 learnable": {
    right: [
      ["b", "c"],
      ["c", "b"],
    ],
    wrong: [
      [["a", "b"], /every advantage is 0/],
      [["b"], /even bad against worse/],
      [["b", "c", "d"], /every advantage is 0/],
    ],
  },
});
