import type { ReadyOptions, RolloutOptions } from "./options.js";
import type { PresetName } from "./preset-name.js";

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
} as const satisfies Record<PresetName | "appo-rollout", RolloutOptions>;

/** Those of an algorithm: `appo-rollout` is a rule alone. */
export const algorithmPresets: Readonly<Record<string, ReadyOptions>> = Object.fromEntries(
  Object.entries(rolloutPresets).filter(([name]) => name !== "appo-rollout"),
);
