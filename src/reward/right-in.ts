import { areRight, type RightRule, rightRule } from "./right.js";
import type { ScoredTrajectory } from "./scored.js";

/** Trajectories by their prompt. */
export function groupsOf(scored: readonly ScoredTrajectory[]): ScoredTrajectory[][] {
  const groups = new Map<string, ScoredTrajectory[]>();
  for (const one of scored) {
    // Trees of several steps may have the same prompt.
    const key = `${one.trajectory.tree} ${one.group}`;
    const own = groups.get(key);
    if (own) own.push(one);
    else groups.set(key, [one]);
  }
  return [...groups.values()];
}

/** How it is known which of these are right. */
export const ruleOf = (scored: readonly ScoredTrajectory[]): RightRule =>
  rightRule(scored.map(({ score }) => score));

/** Which of these are right. */
export function rightIn(
  scored: readonly ScoredTrajectory[],
  rule = ruleOf(scored),
): (one: ScoredTrajectory) => boolean | undefined {
  const found = new Map<ScoredTrajectory, boolean | undefined>();
  for (const group of groupsOf(scored)) {
    const right = areRight(
      group.map(({ score }) => score),
      rule,
    );
    group.forEach((one, i) => found.set(one, right[i]));
  }
  return (one) => found.get(one);
}
