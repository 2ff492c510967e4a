import type { AdvantageOptions } from "../../learn/advantages.js";
import { lossPresets, type LossViewName, lossViews } from "../../learn/losses/registry.js";
import type { ObjectiveSettings } from "./payload.js";

/** An algorithm as the explainer knows it: how it makes advantages, and what it does with them. */
export interface Algorithm {
  label: string;
  summary: string;
  advantage: AdvantageOptions;
  /** Advantages of another kind: against a critic's values, or the return as it is. */
  against?: "critic" | "nothing";
  settings: ObjectiveSettings;
}

/** Losses on advantages that say nothing more of them. */
const losses = Object.fromEntries(
  Object.entries(lossViews).map(
    ([name, { estimator = "grpo" as const, ...view }]): [string, Algorithm] => [
      name,
      { ...view, advantage: { estimator } },
    ],
  ),
) as Readonly<Record<LossViewName, Algorithm>>;
const { gspo, ...others } = losses;

/** The algorithms that can be laid over a batch, by name. */
export const algorithms = {
  grpo: {
    label: "GRPO",
    summary:
      "Every token of a trajectory gets the trajectory's score against its group; PPO's clip bounds the step.",
    advantage: { estimator: "grpo" },
    settings: {},
  },
  arpo: {
    label: "ARPO",
    summary:
      "GRPO's objective on a tree: a token that several trajectories share is pushed once by each of them.",
    advantage: { estimator: "grpo", attribution: "soft" },
    settings: {},
  },
  "arpo-hard": {
    label: "ARPO, hard",
    summary:
      "The paper's other attribution: a shared token gets the mean advantage of the trajectories that share it.",
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
    settings: lossPresets.dapo,
  },
  "dr-grpo": {
    label: "Dr. GRPO",
    summary:
      "No division by the group's deviation or by a trajectory's length: both bias the gradient.",
    advantage: { estimator: "grpo", normalizeByDeviation: false },
    settings: lossPresets["dr-grpo"],
  },
  gspo,
  rloo: {
    label: "RLOO",
    summary: "Each trajectory against the mean of the others: no deviation, no bias.",
    advantage: { estimator: "rloo" },
    settings: {},
  },
  reinforce: {
    label: "REINFORCE",
    summary:
      "The oldest: a token is pushed by what its trajectory got, without a comparison and without a clip.",
    advantage: { estimator: "gae" },
    against: "nothing",
    settings: { loss: "gpg" },
  },
  "ppo-critic": {
    label: "PPO, critic",
    summary:
      "A token is pushed by how much better it went on than a critic expected. Without a critic here, it is one that knows these trees: the mean score of the trajectories with the same tokens so far.",
    advantage: { estimator: "gae" },
    against: "critic",
    settings: {},
  },
  ...others,
} as const satisfies Record<string, Algorithm>;

export type AlgorithmName = keyof typeof algorithms;
