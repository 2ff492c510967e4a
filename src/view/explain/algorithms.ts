import type { AdvantageOptions } from "../../learn/advantages.js";
import type { ObjectiveSettings } from "./payload.js";

/** An algorithm as the explainer knows it: how it makes advantages, and what it does with them. */
export interface Algorithm {
  label: string;
  summary: string;
  advantage: AdvantageOptions;
  settings: ObjectiveSettings;
}

/** The algorithms that can be laid over a batch, by name. */
export const algorithms = {
  grpo: {
    label: "GRPO",
    summary:
      "Every token of a row gets the row's score against its group; PPO's clip bounds the step.",
    advantage: { estimator: "grpo" },
    settings: {},
  },
  arpo: {
    label: "ARPO",
    summary:
      "GRPO's objective on a tree: a token that several rows share is pushed once by each of them.",
    advantage: { estimator: "grpo", attribution: "soft" },
    settings: {},
  },
  "arpo-hard": {
    label: "ARPO, hard",
    summary:
      "The paper's other attribution: a shared token gets the mean advantage of the rows that share it.",
    advantage: { estimator: "grpo", attribution: "hard" },
    settings: {},
  },
  aepo: {
    label: "AEPO",
    summary:
      "Uncertain tokens count for more, and above the upper bound a token keeps its gradient.",
    advantage: { estimator: "grpo" },
    settings: { entropyBalancedClipping: true, entropyBalancedAdvantage: true },
  },
  dapo: {
    label: "DAPO",
    summary: "GRPO with a higher upper bound, so that unlikely tokens may grow.",
    advantage: { estimator: "grpo" },
    settings: { clipRatioLow: 0.2, clipRatioHigh: 0.28 },
  },
  "dr-grpo": {
    label: "Dr. GRPO",
    summary: "No division by the group's deviation or by a row's length: both bias the gradient.",
    advantage: { estimator: "grpo", normalizeByDeviation: false },
    settings: { aggregation: "seq-mean-token-sum-norm" },
  },
  gspo: {
    label: "GSPO",
    summary:
      "One ratio for the whole row, clipped narrowly: all of its tokens stay or go together.",
    advantage: { estimator: "grpo" },
    settings: {
      ratio: "gspo",
      clipRatioLow: 3e-4,
      clipRatioHigh: 4e-4,
      aggregation: "seq-mean-token-mean",
    },
  },
  rloo: {
    label: "RLOO",
    summary: "Each row against the mean of the others: no deviation, no bias.",
    advantage: { estimator: "rloo" },
    settings: {},
  },
} as const satisfies Record<string, Algorithm>;

export type AlgorithmName = keyof typeof algorithms;
