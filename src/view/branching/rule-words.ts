import type { BranchRule } from "../../rollout/branch/branch-rule.js";
import type { ExpansionRule, ExpansionSettings } from "../../rollout/branch/family/settings.js";

/** What each rule goes by, in a few words. */
export const ruleWords: Readonly<Record<BranchRule | ExpansionRule, string>> = {
  "arpo-code": "after a call: entropy against the trajectory's first, and a draw",
  "arpo-paper": "after a call: entropy against the trajectory's first, over a threshold",
  "seed-docs": "after a call: entropy over a share of the trajectory's first, and a draw",
  "aepo-code": "after a call: as arpo-code, less after branches in a row",
  "aepo-paper": "after a call: as arpo-paper, less after branches in a row",
  "tree-grpo": "after steps drawn at random",
  at2po: "turns of highest signal are written anew",
  treerl: "tokens of highest signal are drawn anew",
  appo: "after tokens that are uncertain and of influence",
  "appo-rollout": "after uncertain tokens, the first trajectories first",
  fr3e: "from the prompt and before a trajectory's anchors",
  treepo: "after every segment, while there is room",
  "spo-tree": "after every segment, by fixed factors",
  redraw: "the token of highest signal in each first trajectory is drawn anew",
};

const signals = {
  entropy: "entropy",
  "top-entropy": "entropy of the ten most likely",
  surprisal: "-ln p",
  appo: "APPO's score",
  random: "a number drawn at random",
  own: "a function of its own",
  "group-mixed": "expected variance per token left",
} as const;

const short = (value: number) => String(Number(value.toPrecision(4)));

/** Why a rule that looks at what was written chose a place. */
export function choiceWords(
  settings: ExpansionSettings,
  { score, token, hasFuture }: { score: number; token: number | undefined; hasFuture: boolean },
): string {
  switch (settings.rule) {
    case "tree-grpo":
      return "drawn at random among the prompt and the steps that end with a tool's answer";
    case "at2po":
      return settings.signal === "random"
        ? "drawn at random among the prompt and the turns that end with a call"
        : `mean ${signals[settings.signal]} of the turn's last call, less ${short(settings.penalty)} for every sibling: ${short(score)}; the turn is written anew`;
    case "treerl":
      return `${signals[settings.signal]} ${short(score)}; the token is drawn anew, ${settings.rows} times each time it is chosen`;
    case "redraw":
      return `${signals[settings.signal]} ${short(score)}; the token is drawn anew`;
    case "appo":
      return hasFuture
        ? `z(${signals[settings.signal]}) · z(future) = ${short(score)}; the token stays`
        : `z(${signals[settings.signal]}) = ${short(score)}, with no other policy to tell the future; the token stays`;
    case "appo-rollout":
      return `z(${signals[settings.signal]}) = ${short(score)} among tokens that say something; the token stays`;
    case "fr3e":
      return token === undefined
        ? `the prompt: ${settings.rows} trajectories`
        : `an anchor: ${signals[settings.signal]} ${short(score)}; ${settings.rows} trajectories from before it`;
    case "treepo":
      return `the end of a segment of ${settings.segment} tokens: ${settings.divergence} continuations while there is room`;
    case "spo-tree":
      return `the end of a segment of ${settings.segment} tokens: factors ${settings.factors.join(", ")}`;
  }
}
