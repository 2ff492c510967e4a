import { BranchValues } from "../../../src/measure/branch-values/branch-values.js";
import { judgeAnswers } from "../testing/judge-answers.js";
import { lesson17 } from "./lesson-17.js";

const data = new URL("../../../../docs/evidence/data/multihop-shipped.jsonl.gz", import.meta.url);
const values = await BranchValues.load(data.pathname);
const sum = (x: number[]) => x.reduce((a, b) => a + b, 0);
const plain = (x: number[]) => (sum(x) / x.length) * (1 - sum(x) / x.length);

judgeAnswers(lesson17, {
  "17 variance": {
    right: [(x) => (plain(x) * x.length) / (x.length - 1)],
    wrong: [
      [plain, /n - 1 instead of n/],
      [(x) => Math.sqrt((plain(x) * x.length) / (x.length - 1)), /its root/],
    ],
  },
  "17 worth": {
    right: [(places) => sum(places.map((p) => p.variance)) / sum(places.map((p) => p.left))],
    wrong: [
      [
        (places) => sum(places.map(({ variance, left }) => variance / left)) / places.length,
        /Divide the sums/,
      ],
    ],
  },
  "17 rule": {
    right: [
      { rule: ({ entropies }, { top }) => top(entropies), values },
      {
        rule: ({ entropies, left }, { top }) => top(entropies.map((h, i) => h / left[i]!)),
        values,
      },
    ],
    wrong: [
      // After results: no better than a random token.
      [{ rule: ({ sinceResult }) => sinceResult.map((s) => Number(s === 0)), values }, /above 1/],
      [
        { rule: ({ texts }) => texts.map((_, i) => Number(i === 0)), values },
        /is worth 0\.\d\d times/,
      ],
      [{ rule: ({ texts }) => texts.map(() => 0), values }, /branches nowhere/],
      [{ rule: () => [1], values }, /it must give a weight for each/],
    ],
  },
});
