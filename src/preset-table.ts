// The published settings of the algorithms: the one table. Plain data, so that rollouts and updates can
// both read it; `presets.ts` and the configuration's presets hold it against the options' types.

/** An algorithm whose published settings `preset` stands for. */
export type PresetName =
  | "grpo"
  | "arpo"
  | "aepo"
  | "tree-grpo"
  | "at2po"
  | "treerl"
  | "appo"
  | "fr3e"
  | "treepo"
  | "spo-tree";

/**
 * The published settings of a rollout: those of the ARPO reasoning script, what GRPO and AEPO change in
 * them, and those of the methods around ARPO.
 */
export const rolloutPresets = {
  /** n independent trajectories, no branching. */
  grpo: { n: 16, initialRollouts: 16, beamSize: 1, callLimit: 3 },
  arpo: {
    rule: "arpo-code",
    n: 16,
    initialRollouts: 8,
    beamSize: 2,
    branchProbability: 0.5,
    entropyWeight: 0.2,
    callLimit: 3,
  },
  /** The dynamic budget is off, as in the published scripts; `dynamicRollouts: true` turns it on. */
  aepo: {
    rule: "aepo-code",
    n: 16,
    initialRollouts: 8,
    beamSize: 2,
    branchProbability: 0.5,
    entropyWeight: 0.2,
    callLimit: 6,
    dynamicRollouts: false,
  },
  /** Two trees of a chain each, two more from random steps, three leaves kept of each. */
  "tree-grpo": { rule: "tree-grpo", n: 6, initialRollouts: 2 },
  /** Ten chains; twice, the six turns of greatest surprisal are written anew. */
  at2po: { rule: "at2po", n: 22, initialRollouts: 10 },
  /** Six chains; two surprising tokens of each are drawn anew, twice. */
  treerl: {
    rule: "treerl",
    n: 30,
    initialRollouts: 6,
    sampling: { temperature: 1.2, topK: -1, topP: 0.95 },
  },
  /** Eight chains, eight more from uncertain tokens whose future the policy of now values otherwise. */
  appo: { rule: "appo", n: 16, initialRollouts: 8 },
  "appo-rollout": { rule: "appo-rollout", n: 16, initialRollouts: 8 },
  /** Four chains; a right and a wrong one explored from the prompt and four anchors. Needs a `judge`. */
  fr3e: { rule: "fr3e", n: 160, initialRollouts: 4 },
  /** Segments of 512 tokens, 14 at most. */
  treepo: { rule: "treepo", n: 16, initialRollouts: 8, responseLength: 7168 },
  /** Segments of 600 tokens, six of each. */
  "spo-tree": { rule: "spo-tree", n: 216, initialRollouts: 6 },
} as const satisfies Record<PresetName | "appo-rollout", object>;

/** Those of an algorithm: `appo-rollout` is a rule alone. */
export const algorithmPresets: Readonly<Record<string, object>> = Object.fromEntries(
  Object.entries(rolloutPresets).filter(([name]) => name !== "appo-rollout"),
);

/**
 * The settings of published methods' losses, by the method's name: what their papers' scripts set, where
 * that was read; where nothing is set, the loss's own defaults. To lay over an update's options, or over
 * a preset's.
 */
export const lossPresets = {
  ppo: { loss: "vanilla" },
  dapo: { loss: "vanilla", clipRatioLow: 0.2, clipRatioHigh: 0.28, aggregation: "token-mean" },
  "dr-grpo": { loss: "vanilla", aggregation: "seq-mean-token-sum-norm" },
  gspo: {
    loss: "gspo",
    clipRatioLow: 3e-4,
    clipRatioHigh: 4e-4,
    aggregation: "seq-mean-token-mean",
  },
  cispo: { loss: "cispo" },
  sapo: { loss: "sapo" },
  "clip-cov": { loss: "clip_cov" },
  "kl-cov": { loss: "kl_cov" },
  gmpo: { loss: "geo_mean" },
  gpg: { loss: "gpg" },
  "dppo-tv": { loss: "dppo_tv", clipRatioC: 20 },
  "dppo-kl": { loss: "dppo_kl", clipRatioC: 20 },
  gppo: { loss: "ce_gppo", gppoLow: 1, gppoHigh: 1, clipRatioC: 10 },
  // The 1.5B model's script; the function and its file have 0.25, the 7B model's script 0.75.
  "ce-gppo": { loss: "ce_gppo", gppoLow: 0.5, gppoHigh: 1, clipRatioC: 10 },
  at2po: { loss: "gspo_turn", clipRatioLow: 3e-3, clipRatioHigh: 4e-3 },
  "tree-grpo": { loss: "vanilla", klLossCoefficient: 0.001, klLossKind: "low_var_kl" },
  treepo: { loss: "vanilla", clipRatioLow: 0.2, clipRatioHigh: 0.28, aggregation: "token-mean" },
  fr3e: { loss: "vanilla", clipRatioLow: 0.2, clipRatioHigh: 0.3, aggregation: "token-mean" },
  appo: {
    loss: "future_kl",
    clipRatioLow: 0.2,
    clipRatioHigh: 0.28,
    clipRatioC: 3,
    futureDecay: 64,
    futureClip: 0.2,
    futureHighOnly: true,
    futureWeight: 1,
    futureSafety: 6,
  },
} as const;

/** What each algorithm's preset says of advantages and of updates. */
export const learnPresets = {
  grpo: { estimator: "grpo" },
  arpo: { estimator: "grpo" },
  aepo: { estimator: "grpo", entropyBalancedClipping: true, entropyBalancedAdvantage: true },
  "tree-grpo": { ...lossPresets["tree-grpo"], estimator: "tree_grpo" },
  at2po: { ...lossPresets.at2po, estimator: "at2po" },
  treerl: { estimator: "treerl" },
  appo: { ...lossPresets.appo, estimator: "appo" },
  fr3e: { ...lossPresets.fr3e, estimator: "fr3e" },
  treepo: { ...lossPresets.treepo, estimator: "treepo" },
  "spo-tree": { estimator: "spo_tree" },
} as const satisfies Record<PresetName, object>;
