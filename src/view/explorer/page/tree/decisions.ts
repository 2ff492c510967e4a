import { defined } from "../../../../../common/options/defined.js";
import type { BranchSettings } from "../../../../rollout/rules/decide-branch.js";
import { attemptRuleNamed } from "../../../../rollout/rules/registry.js";
import type { ReplayAttempt } from "../../../../rollout/replay/replay-result.js";
import { two } from "../../../page/words.js";

/** The chance to branch: what the coin alone would give, what it was, and where the draw fell. */
export interface Chance {
  base: number;
  probability: number;
  draw: number;
}

/** A decision as a person reads it: the draw against the probability, or the score against a threshold. */
export interface Decision {
  branch: boolean;
  /** The trajectory that started here, if there is one. */
  child?: number;
  /** One sentence. */
  words: string;
  /** Probability and draw, where a draw decided. */
  chance?: Chance;
  /** Every number that decided, with its name. */
  facts: [name: string, value: string][];
}

/** An attempt at a branch in words. */
export function decisionOf(
  attempt: ReplayAttempt,
  settings: BranchSettings,
  child?: number,
): Decision {
  const { branch, probability, score, bar, delta, entropy, baseline } = attempt;
  const outcome = branch ? "branched" : "no branch";
  const facts: Decision["facts"] = [
    ["Entropy of this segment", two(entropy)],
    ["At the trajectory's start", two(baseline)],
    ["Change × weight", `${delta < 0 ? "−" : "+"}${two(Math.abs(delta))} × ${settings.weight}`],
  ];
  const { reads, draws } = attemptRuleNamed(settings.rule)!;
  if (reads.includes("penaltySlope")) {
    facts.push(["Branchings in a row", String(attempt.consecutive)]);
  }
  const made = { branch, ...defined({ child }) };
  if (draws === "none") {
    facts.push(["Score", two(score)], ["Threshold", two(bar)]);
    return {
      ...made,
      words: `score ${two(score)} against threshold ${two(bar)} → ${outcome}`,
      facts,
    };
  }
  // Where large draws branch: seen from the other end the sentence is the same.
  const fromEnd = (value: number) => (draws === "large" ? 1 - value : value);
  const [draw, base] = [fromEnd(attempt.u), fromEnd(settings.probability)];
  facts.push(
    ["Base probability", two(base)],
    ["Probability to branch", two(probability)],
    ["Random draw", two(draw)],
  );
  return {
    ...made,
    words: `probability ${two(probability)}, drew ${two(draw)} → ${outcome}`,
    chance: { base, probability, draw },
    facts,
  };
}

/** Why a rule that ranks places chose one. */
export const choiceWords = (rule: string, round: number, order: number, score: number): string =>
  `${rule} chose this place in round ${round}, number ${order + 1}${score === 0 ? "" : `: signal ${two(score)}`}`;
