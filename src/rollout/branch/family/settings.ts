import type { TreepoAllocation } from "./treepo.js";

/**
 * The rules that look at what has been written and choose where the tree continues from: after whole chains
 * or, for `treepo` and `spo-tree`, after every segment.
 */
export const expansionRules = [
  "tree-grpo",
  "at2po",
  "treerl",
  "appo",
  "appo-rollout",
  "fr3e",
  "treepo",
  "spo-tree",
  "redraw",
] as const;

export type ExpansionRule = (typeof expansionRules)[number];

/** Whether a rule is one of them. */
export const isExpansion = (rule: string): rule is ExpansionRule =>
  (expansionRules as readonly string[]).includes(rule);

/** Whether a rule looks at what tokens say. */
export const readsText = (rule: ExpansionRule): boolean =>
  rule === "treerl" || rule === "appo" || rule === "appo-rollout";

/**
 * What a token is ranked by: the entropy of the whole distribution, that of the ten most likely alternatives
 * (not renormalised), -ln p of the token drawn, or APPO's score.
 */
export const branchSignals = ["entropy", "top-entropy", "surprisal", "appo"] as const;

export type BranchSignal = (typeof branchSignals)[number];

/** What a function that ranks tokens is told of one. */
export interface RankedToken {
  /** The trajectory, and which of the tokens that it drew this is. */
  trajectory: number;
  index: number;
  text: string;
  entropy: number;
  logprob: number;
  /** Tokens that the trajectory still drew from here on, this one included. */
  left: number;
  /** Tool results before it, and tokens drawn since the last one: 0 right after it, Infinity before the first. */
  calls: number;
  sinceResult: number;
}

/** Gives a token the number that it is ranked by: the greatest are branched at. */
export type TokenRanking = (token: RankedToken) => number;

/**
 * What places are ranked by: `random` gives each a number at random, so that all are chosen alike; `own` is a
 * function that the rollout was given; `group-mixed` (rule `redraw` alone) is how mixed the outcomes of forks are to
 * be expected, per token that is left, by the outcomes of the first trajectories that share the text so far.
 */
export type RankingSignal = BranchSignal | "random" | "own" | "group-mixed";

/** Random steps of each tree are continued from; some leaves of each tree are kept. */
interface TreeGrpoSettings {
  rule: "tree-grpo";
  /** m: trees, each from one chain. */
  trees: number;
  /** l. */
  rounds: number;
  /** n: steps chosen per tree and round. */
  points: number;
  /** k: leaves kept per tree. */
  keep: number;
}

/** The turns of highest signal are written anew. */
interface At2poSettings {
  rule: "at2po";
  /** `expansion_iterations`. */
  rounds: number;
  /** `beam_size`: turns written anew per round. */
  points: number;
  /** `random` chooses turns at random. */
  signal: RankingSignal;
  /** What every sibling takes off a turn's signal. */
  penalty: number;
}

/** The tokens of highest signal are drawn anew. */
interface TreerlSettings {
  rule: "treerl";
  /** m: trees, each from one chain. */
  trees: number;
  /** l. */
  rounds: number;
  /** n: tokens chosen per tree and round. */
  points: number;
  /** t: how often each is drawn anew. */
  rows: number;
  signal: RankingSignal;
  /** Above 0: the chosen lie far apart (`use_diverse_sampling`, `diverse_upsampling`). */
  upsampling: number;
  /** Tokens of a first chain that count. */
  maxLength: number;
}

/** Trajectories continue after tokens that are uncertain and of influence. */
interface AppoSettings {
  rule: "appo";
  /** What uncertainty is measured by. */
  signal: RankingSignal;
  /** What is to come counts so much less with every token. */
  gamma: number;
  /** The future value stays within 1 ± clip; 0: no bound. */
  clip: number;
}

/** APPO inside the rollout: trajectories continue after uncertain tokens, the first trajectories first. */
interface AppoRolloutSettings {
  rule: "appo-rollout";
  signal: RankingSignal;
}

/** A right and a wrong rollout are explored from their most uncertain tokens. */
interface Fr3eSettings {
  rule: "fr3e";
  /** `srpo_max_block_num`: anchors per rollout. */
  points: number;
  /** Rollouts from every state. */
  rows: number;
  /** How many right rollouts are explored, and how many wrong ones. */
  right: number;
  wrong: number;
  signal: RankingSignal;
}

/** Paths of segments, each continued several times while there is room. */
interface TreepoSettings {
  rule: "treepo";
  /** Tokens. */
  segment: number;
  /** Segments of a path. */
  depth: number;
  /** d: continuations per path. */
  divergence: number;
  /** The first step makes from so many to so many paths. */
  first: [least: number, most: number];
  allocation: TreepoAllocation;
  temperature: number;
}

/** A tree of fixed branch factors: segments of so many tokens, the last of any length. */
interface SpoTreeSettings {
  rule: "spo-tree";
  segment: number;
  factors: number[];
}

/** The token of greatest signal in each first trajectory is drawn anew, then the next of each, up to n. */
interface RedrawSettings {
  rule: "redraw";
  signal: RankingSignal;
}

/** What a rule that looks at written chains is set to, complete. */
export type ExpansionSettings =
  | TreeGrpoSettings
  | At2poSettings
  | TreerlSettings
  | AppoSettings
  | AppoRolloutSettings
  | Fr3eSettings
  | TreepoSettings
  | SpoTreeSettings
  | RedrawSettings;

type Every<T> = T extends unknown ? keyof T : never;
type ValueOf<T, K extends PropertyKey> = T extends Record<K, infer V> ? V : never;

/** What may be set of such a rule; each takes what it has, and the published value of what is left out. */
export type ExpandOptions = {
  [K in Exclude<Every<ExpansionSettings>, "rule">]?: K extends "signal"
    ? RankingSignal | TokenRanking
    : ValueOf<ExpansionSettings, K>;
};

/** The settings of a rule of that name. */
export type SettingsOf<R extends ExpansionRule> = Extract<ExpansionSettings, { rule: R }>;

/** The published settings. `spo-tree`: those for a model of 1.5B parameters on MATH; `redraw` is ours. */
export const publishedExpansion: { readonly [R in ExpansionRule]: Readonly<SettingsOf<R>> } = {
  "tree-grpo": { rule: "tree-grpo", trees: 2, rounds: 1, points: 2, keep: 3 },
  at2po: { rule: "at2po", rounds: 2, points: 6, signal: "surprisal", penalty: 0.05 },
  treerl: {
    rule: "treerl",
    ...{ trees: 6, rounds: 1, points: 2, rows: 2 },
    ...{ signal: "surprisal", upsampling: 0, maxLength: 7144 },
  },
  appo: { rule: "appo", signal: "top-entropy", gamma: 1, clip: 0.2 },
  "appo-rollout": { rule: "appo-rollout", signal: "top-entropy" },
  fr3e: { rule: "fr3e", points: 4, rows: 16, right: 1, wrong: 1, signal: "surprisal" },
  treepo: {
    rule: "treepo",
    ...{ segment: 512, depth: 14, divergence: 2, first: [2, 8] },
    ...{ allocation: "fixed_avg", temperature: 1 },
  },
  "spo-tree": { rule: "spo-tree", segment: 600, factors: [6, 6, 6] },
  redraw: { rule: "redraw", signal: "entropy" },
};

/**
 * Trajectories that a rule's settings fix, and trajectories it starts with; undefined where the caller
 * chooses.
 */
export function fixedTrajectories(settings: ExpansionSettings): {
  n?: number;
  initialRollouts?: number;
} {
  switch (settings.rule) {
    case "tree-grpo":
      return { n: settings.trees * settings.keep, initialRollouts: settings.trees };
    case "treerl": {
      const { trees, rounds, points, rows: trajectories } = settings;
      return { n: trees * (1 + rounds * points * trajectories), initialRollouts: trees };
    }
    case "fr3e":
      return { n: (settings.right + settings.wrong) * (settings.points + 1) * settings.rows };
    case "spo-tree":
      return {
        n: settings.factors.reduce((product, f) => product * f, 1),
        initialRollouts: settings.factors[0]!,
      };
    case "treepo":
      return { initialRollouts: settings.first[1] };
    case "at2po":
    case "appo":
    case "appo-rollout":
    case "redraw":
      return {};
  }
}

/**
 * Trajectories per prompt, and those a prompt starts with, in the published runs where settings leave
 * them open.
 */
export const publishedTrajectories: Partial<
  Record<ExpansionRule, { n?: number; initialRollouts?: number }>
> = {
  at2po: { n: 22, initialRollouts: 10 },
  appo: { n: 16, initialRollouts: 8 },
  "appo-rollout": { n: 16, initialRollouts: 8 },
  fr3e: { initialRollouts: 4 },
  treepo: { n: 16 },
  redraw: { n: 16, initialRollouts: 8 },
};

/** What of a rule's settings may be set. */
export function settingsBesidesRule(settings: ExpansionSettings): ExpandOptions {
  return Object.fromEntries(Object.entries(settings).filter(([key]) => key !== "rule"));
}
