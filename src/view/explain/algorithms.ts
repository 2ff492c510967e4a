import type { AdvantageOptions } from "../../learn/advantages.js";
import { lossPresets } from "../../learn/losses/presets.js";
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

/** A loss by its method's name, on GRPO's advantages. */
const withLoss = (
  name: keyof typeof lossPresets,
  label: string,
  summary: string,
  advantage: AdvantageOptions = { estimator: "grpo" },
) => ({ ...{ label, summary, advantage }, settings: lossPresets[name] }) satisfies Algorithm;

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
  gspo: {
    label: "GSPO",
    summary:
      "One ratio for the whole trajectory, clipped narrowly: all of its tokens stay or go together.",
    advantage: { estimator: "grpo" },
    settings: lossPresets.gspo,
  },
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
  cispo: withLoss(
    "cispo",
    "CISPO",
    "The clip bounds what a token weighs, and takes no token's gradient away.",
  ),
  sapo: withLoss("sapo", "SAPO", "A soft gate in place of the clip, steeper for what got worse."),
  "clip-cov": {
    ...withLoss(
      "clip-cov",
      "Clip-Cov",
      "PPO's clip; and a few of the tokens that would narrow the policy most lose their gradient.",
    ),
    // Two tokens of ten thousand would hardly be one of a batch as small as this.
    settings: { ...lossPresets["clip-cov"], clipCovRatio: 0.02, clipCovLow: 0.2 },
  },
  "kl-cov": {
    ...withLoss(
      "kl-cov",
      "KL-Cov",
      "No clip: the tokens that would narrow the policy most are held where they were.",
    ),
    settings: { ...lossPresets["kl-cov"], klCovRatio: 0.02 },
  },
  gmpo: withLoss("gmpo", "GMPO", "A trajectory's ratio is the geometric mean of its clipped ones."),
  gpg: withLoss("gpg", "GPG", "The plain policy gradient: no ratio, no clip.", {
    estimator: "gpg",
  }),
  dro: {
    label: "DRO",
    summary: "The plain policy gradient, and a spring back to where each token was (β = 1 here).",
    advantage: { estimator: "grpo" },
    settings: { loss: "dro", droBeta: 1 },
  },
  "dppo-tv": withLoss(
    "dppo-tv",
    "DPPO, TV",
    "Not the ratio is bounded but how far the token's own probability moves.",
  ),
  "dppo-kl": withLoss("dppo-kl", "DPPO, KL", "The same by the KL of the token against all others."),
  "ce-gppo": withLoss(
    "ce-gppo",
    "CE-GPPO",
    "Beyond the bounds a token keeps a share of the bound's gradient, on either side.",
  ),
  at2po: withLoss(
    "at2po",
    "AT2PO's turns",
    "One ratio for a turn, clipped narrowly; only the loss of AT2PO, on GRPO's advantages.",
  ),
  turn: {
    label: "Tree-GRPO's turns",
    summary: "One ratio for a turn with the gradient through its mean, under PPO's dual clip.",
    advantage: { estimator: "grpo" },
    settings: { loss: "turn" },
  },
  "future-kl": withLoss(
    "appo",
    "APPO's future",
    "A token counts for more when what follows it has become more likely; only the loss of APPO.",
  ),
} as const satisfies Record<string, Algorithm>;

export type AlgorithmName = keyof typeof algorithms;
