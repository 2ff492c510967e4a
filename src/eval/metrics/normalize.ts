import { strip, withoutArticles, withoutPunctuation, words } from "../../text/python-text.js";

/** What Python's `repr` does not print as it is: control, format and unassigned characters, odd spaces. */
const unprintable = /[\p{C}\p{Z}]/gu;

function escaped(character: string): string {
  const named: Record<string, string> = { "\n": "\\n", "\r": "\\r", "\t": "\\t", " ": " " };
  if (named[character] !== undefined) return named[character];
  const code = character.codePointAt(0)!;
  const hex = (digits: number) => code.toString(16).padStart(digits, "0");
  return code < 0x100 ? `\\x${hex(2)}` : code < 0x10000 ? `\\u${hex(4)}` : `\\U${hex(8)}`;
}

/** A string as Python's `repr` writes it, for lists that the reference turns into text. */
function quoted(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const body = text.replaceAll("\\", "\\\\").replace(unprintable, escaped);
  return quote + (quote === "'" ? body.replaceAll("'", "\\'") : body) + quote;
}

/** A number as Python writes it: small ones with an exponent of two digits. */
function numberText(value: number): string {
  const small = value !== 0 && Math.abs(value) < 1e-4;
  return small ? value.toExponential().replace(/e-(\d)$/, "e-0$1") : String(value);
}

const inside = (value: unknown) => (typeof value === "string" ? quoted(value) : asText(value));

/** A value from a data file as the reference's `str()` writes it: `None`, `True`, `['a', 'b']`. */
export function asText(value: unknown): string {
  if (typeof value === "string") return value;
  if (value === null || value === undefined) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "number") return numberText(value);
  if (Array.isArray(value)) return `[${value.map(inside).join(", ")}]`;
  if (typeof value === "object") {
    const pairs = Object.entries(value).map(([key, item]) => `${quoted(key)}: ${inside(item)}`);
    return `{${pairs.join(", ")}}`;
  }
  throw new TypeError(
    `Cannot write as text: the value must come from a data file, got ${typeof value}`,
  );
}

/**
 * An answer as the evaluation compares it. Unlike the reward it keeps punctuation unless told, and
 * articles go before punctuation does.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { normalizeForEvaluation } from "arpo-lab/experimental/evaluation";
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
