import { checkArguments } from "../../../common/options/check-arguments.js";
import { withoutArticles, withoutPunctuation, words } from "../../base/text/python-text.js";

/**
 * An answer as the reward compares it: lower case, no ASCII punctuation, no articles, single spaces.
 *
 * @param text an answer as the model or the data set wrote it
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { normalizeAnswer } from "arpo-lab/learn";
 *
 * assert.equal(normalizeAnswer("The  U.S.A."), "usa");
 * ```
 */
export function normalizeAnswer(text: string): string {
  checkArguments("normalize an answer", { text }, { text: "text" });
  return words(withoutArticles(withoutPunctuation(text.toLowerCase()))).join(" ");
}

/** How many words two lists share, counted as often as both have them. */
export function sharedWords(a: readonly string[], b: readonly string[]): number {
  const left = new Map<string, number>();
  for (const word of b) left.set(word, (left.get(word) ?? 0) + 1);
  let shared = 0;
  for (const word of a) {
    const n = left.get(word) ?? 0;
    if (n > 0) {
      left.set(word, n - 1);
      shared++;
    }
  }
  return shared;
}

const verdicts = new Set(["yes", "no", "noanswer"]);

/**
 * Token F1 of a prediction against the best of its references. A yes or no (or noanswer) on either
 * side must match whole.
 *
 * @param prediction the answer to score
 * @param references the right answer, or several that are right
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { tokenF1 } from "arpo-lab/learn";
 *
 * assert.equal(tokenF1("new york", ["NYC", "New York City"]), 0.8);
 * assert.equal(tokenF1("yes", "yes it is"), 0);
 * ```
 */
export function tokenF1(prediction: string, references: string | readonly string[]): number {
  checkArguments(
    "compare answers",
    { prediction, references },
    { prediction: "text", references: typeof references === "string" ? "text" : "list" },
  );
  const given = normalizeAnswer(prediction);
  let best = 0;
  for (const reference of typeof references === "string" ? [references] : references) {
    const wanted = normalizeAnswer(reference);
    if (given !== wanted && (verdicts.has(given) || verdicts.has(wanted))) continue;
    const givenWords = words(given);
    const wantedWords = words(wanted);
    const shared = sharedWords(givenWords, wantedWords);
    if (shared === 0) continue;
    const precision = shared / givenWords.length;
    const recall = shared / wantedWords.length;
    best = Math.max(best, (2 * precision * recall) / (precision + recall));
  }
  return best;
}
