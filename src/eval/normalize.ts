import { strip, withoutArticles, withoutPunctuation, words } from "../reward/python-text.js";

/** A string as Python's `repr` writes it, for lists that the reference turns into text. */
function quoted(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const body = text
    .replaceAll("\\", "\\\\")
    .replaceAll("\n", "\\n")
    .replaceAll("\r", "\\r")
    .replaceAll("\t", "\\t");
  return quote + (quote === "'" ? body.replaceAll("'", "\\'") : body) + quote;
}

/** A value from a data file as the reference's `str()` writes it: `None`, `True`, `['a', 'b']`. */
export function asText(value: unknown): string {
  if (typeof value === "string") return value;
  if (value === null || value === undefined) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (Array.isArray(value)) {
    return `[${value.map((v) => (typeof v === "string" ? quoted(v) : asText(v))).join(", ")}]`;
  }
  return String(value);
}

/**
 * An answer as the evaluation compares it. Unlike the reward it keeps punctuation unless told, and
 * articles go before punctuation does.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { normalizeForEvaluation } from "arpo-lab/eval";
 *
 * assert.equal(normalizeForEvaluation("The Cat!"), "the cat!");
 * assert.equal(normalizeForEvaluation("The Cat!", { articles: false }), "cat!");
 * ```
 */
export function normalizeForEvaluation(
  value: unknown,
  keep: { articles?: boolean; punctuation?: boolean } = {},
): string {
  let text = strip(asText(value).toLowerCase());
  if (keep.articles === false) text = withoutArticles(text);
  if (keep.punctuation === false) text = withoutPunctuation(text);
  return words(text).join(" ");
}
