import type { ResultStep } from "./sample.js";

/** What the model reads instead of a result when it called a tool too often. */
export const tooMany = (tag: string): string =>
  tag === "search"
    ? "The maximum search limit is exceeded. You are not allowed to search."
    : `The maximum ${tag} call limit is exceeded. You are not allowed to use ${tag}.`;

/** What it reads when it searches for the same again. */
export const searchedBefore = "You have searched this query. Please refer to previous results.";

/** The rule behind what stands in a result block; undefined where a tool answered. */
export function ruleOf(tag: string, found: string): ResultStep["rule"] {
  if (found === tooMany(tag)) return "limit";
  return tag === "search" && found === searchedBefore ? "repeated" : undefined;
}
