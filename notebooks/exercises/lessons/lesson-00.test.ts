import type { TreeTrajectory } from "../../../src/rollout/tree/tree-values.js";
import { judgeAnswers } from "../testing/judge-answers.js";
import { lesson00, type Push } from "./lesson-00.js";

const depth = (all: TreeTrajectory[], id: number): number => {
  const { parent } = all[id]!;
  return parent < 0 ? 0 : depth(all, parent) + 1;
};
const against = (scores: number[], middle: number): Push[] =>
  scores.map((s) => (s === middle ? "none" : s > middle ? "up" : "down"));

judgeAnswers(lesson00, {
  "00 roots": {
    right: [
      (all) => all.filter(({ kind }) => kind !== "branch").length,
      (all) => all.filter(({ parent }) => parent < 0).length,
    ],
    wrong: [
      [(all) => all.filter(({ kind }) => kind === "initial").length, /refill/],
      [(all) => all.filter(({ kind }) => kind === "branch").length, /the ones that branched/],
      [(all) => all.length, /it gives 4, but should give 2/],
    ],
  },
  "00 depth": {
    right: [depth],
    wrong: [
      [(all, id) => Number(all[id]!.kind === "branch"), /follow the parents/],
      [(all, id) => depth(all, id) + 1, /it gives 1, but should give 0/],
    ],
  },
  "00 pushes": {
    right: [(scores) => against(scores, scores.reduce((sum, s) => sum + s, 0) / scores.length)],
    wrong: [
      [(scores) => against(scores, 0), /compares with 0/],
      [(scores) => scores.map(() => "up"), /but should give/],
    ],
  },
});
