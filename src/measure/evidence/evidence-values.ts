import { type Interval, scoreInterval, meanInterval } from "../../eval/metrics/interval.js";
import type { ChangeName } from "./changes/registry.js";

/** What followed a result, as it was or changed. */
export interface Outcome {
  /** The result that the forks went on from. */
  text: string;
  /** Of each fork. */
  answers: readonly string[];
  scores: readonly number[];
  /** The share of forks that gave the usual answer, and their mean score. */
  survived: Interval;
  reward: Interval;
}

/** Whether an answer falls with a result, stays without it, or neither can be said. */
export type Verdict = "falls" | "stays" | "undecided";

/** One tool result: what its forks answered, as it was and changed. */
export interface EvidenceResult {
  node: number;
  /** The first trajectory that it stands in, and tool results before it on the path. */
  trajectory: number;
  turn: number;
  tag: string;
  input: string;
  /** The answer that it usually leads to: of its trajectories and of the forks in which it stays; empty for none. */
  answer: string;
  kept: Outcome;
  changed: Partial<Record<ChangeName, Outcome & { verdict: Verdict }>>;
}

/** The same over all results: the mean of their shares and scores, each result one value. */
export interface EvidenceTotal {
  change: ChangeName | "kept";
  results: number;
  survived: Interval;
  reward: Interval;
  /** Results whose answer falls, and stays. */
  falls: number;
  stays: number;
}

/** Answers and scores of forks, and how many gave the usual answer. */
export function outcomeOf(
  text: string,
  forks: readonly { answer: string; score: number }[],
  isSame: (answer: string) => boolean,
): Outcome {
  const answers = forks.map(({ answer }) => answer);
  const scores = forks.map(({ score }) => score);
  const survived = meanInterval(answers.map((answer) => Number(isSame(answer))));
  return { ...{ text, answers, scores, survived }, reward: scoreInterval(scores) };
}

/** Falls: the interval lies below that of the result that stays. Stays: more than half, by the whole interval. */
export function verdictOf(kept: Interval, changed: Interval): Verdict {
  if (changed.high < kept.low) return "falls";
  return changed.low > 0.5 ? "stays" : "undecided";
}

/** A mean over results, each as one value: of one result its own interval. */
function overResults(list: readonly Outcome[], of: (outcome: Outcome) => Interval): Interval {
  return list.length === 1 ? of(list[0]!) : scoreInterval(list.map((one) => of(one).value));
}

/** What all results say together, a line for each change that was tried. */
export function totalsOf(
  results: readonly EvidenceResult[],
  names: readonly ChangeName[],
): EvidenceTotal[] {
  const known = results.filter(({ answer }) => answer !== "");
  return (["kept", ...names] as const).flatMap((change) => {
    const own = known.flatMap(({ kept, changed }): (Outcome & { verdict?: Verdict })[] => {
      const one = change === "kept" ? kept : changed[change];
      return one ? [one] : [];
    });
    if (own.length === 0) return [];
    const count = (verdict: Verdict) => own.filter((one) => one.verdict === verdict).length;
    return [
      {
        ...{ change, results: own.length, falls: count("falls"), stays: count("stays") },
        survived: overResults(own, (one) => one.survived),
        reward: overResults(own, (one) => one.reward),
      },
    ];
  });
}
