import type { Advice, RunFacts } from "../../../common/options/setting.js";
import type { BranchNumbers, BranchSituation, BranchVerdict } from "../branch/branch-rule.js";

/**
 * A rule that decides after each call whether the trajectory branches, one attempt at a time: everything that the
 * library knows of it.
 */
export interface AttemptDefinition<Name extends string = string, P extends object = object> {
  /** The rule's name in options, configurations and trees. */
  readonly name: Name;
  /** What a page calls it. */
  readonly title: string;
  /** What it goes by, in a few words. */
  readonly words: string;
  /** The numbers that it looks at. */
  readonly reads: readonly (keyof BranchNumbers)[];
  /** Which draws make it branch; `none`: it draws nothing. */
  readonly draws: "small" | "large" | "none";
  /** verl's agent loop has it too. */
  readonly verl?: true;
  /** The rollout's part of the published settings, where it is an algorithm's own rule. */
  readonly preset?: P;
  decide(numbers: BranchNumbers, situation: BranchSituation): BranchVerdict;
  /** What doctor says of a run with it. */
  advice?(run: RunFacts): Advice[];
}

/** A rule that decides after calls. */
export const defineAttemptRule = <const Name extends string, const P extends object = object>(
  definition: AttemptDefinition<Name, P>,
): AttemptDefinition<Name, P> => definition;

export const clamp = (x: number): number => Math.min(1, Math.max(0, x));

/** A number as it stands in a reason. */
export const show = (x: number): string => String(Number(x.toPrecision(4)));

/** Entropy now less the baseline, and what a rule's weight makes of it, in words. */
export function changeOf({ weight }: BranchNumbers, { entropy, baseline }: BranchSituation) {
  const delta = entropy - baseline;
  return { delta, change: `${show(weight)}·${show(delta)}` };
}

/** The papers' rules: a score over a threshold, times what consecutive branchings leave of it. */
export function overThreshold(
  numbers: BranchNumbers,
  situation: BranchSituation,
  factor?: number,
): BranchVerdict {
  const { probability: p, weight: w, threshold: tau } = numbers;
  const { delta, change } = changeOf(numbers, situation);
  const score = (p + w * delta) * (factor ?? 1);
  const branch = score > tau;
  const penalty = factor === undefined ? "" : `·${show(factor)}`;
  const reason = `P = (${show(p)} + ${change})${penalty} = ${show(score)} is ${branch ? "" : "not "}above τ = ${show(tau)}`;
  return { branch, delta, score, bar: tau, probability: branch ? 1 : 0, reason };
}
