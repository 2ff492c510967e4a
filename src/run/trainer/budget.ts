// How far a run is: in steps, or in what its budget counts.
import type { Cost } from "../../learn/measures/spent.js";
import type { Config } from "../config/schema.js";

/** A place in a run: so many of so many. */
export interface Place {
  at: number;
  of: number;
}

const counted = ["tokens", "calls", "trajectories"] as const;

/** Whether a run ends by what it has spent. */
export function hasBudget({ lab: { budget } }: Config): boolean {
  return counted.some((name) => budget[name] !== null);
}

/** Where a run is by its budget; the part that is nearest to its end decides. Undefined without one. */
export function placeInBudget({ lab: { budget } }: Config, cost: Cost): Place | undefined {
  const places = counted.flatMap((name): Place[] => {
    const of = budget[name];
    return of === null ? [] : [{ at: Math.min(cost[name], of), of }];
  });
  return places.sort((a, b) => b.at / b.of - a.at / a.of)[0];
}

/** Whether a step has reached a place where the run is to be validated. */
export function reachesTest({ lab: { budget } }: Config, before: Cost, after: Cost): boolean {
  const passes = (marks: readonly number[], from: number, to: number) =>
    marks.some((mark) => from < mark && mark <= to);
  return (
    passes(budget.test_at_tokens, before.tokens, after.tokens) ||
    passes(budget.test_at_calls, before.calls, after.calls)
  );
}
