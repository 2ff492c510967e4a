import { sharedWords } from "../../reward/answers/qa-em.js";
import { mathEquivalent } from "../../reward/answers/math-equivalence.js";
import { numericEquivalent } from "../../reward/answers/numeric-equivalence.js";
import { strip, withoutArticles, withoutPunctuation, words } from "../../base/text/python-text.js";

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

/** How one prediction compares with its reference, each 0 to 1. */
export interface AnswerMetrics {
  /** Equal after normalisation. */
  em: number;
  /** The reference occurs in the prediction. */
  acc: number;
  f1: number;
  math_equal: number;
}

function compare(prediction: string, reference: string): AnswerMetrics {
  const given = words(prediction);
  const wanted = words(reference);
  const shared = sharedWords(given, wanted);
  const precision = shared / given.length;
  const recall = shared / wanted.length;
  return {
    em: Number(prediction === reference),
    acc: Number(prediction.includes(reference)),
    f1: shared === 0 ? 0 : (2 * precision * recall) / (precision + recall),
    math_equal: Number(mathEquivalent(prediction, reference)),
  };
}

/** The best against any of several references, metric by metric. */
function best(wanted: readonly unknown[], of: (one: unknown) => AnswerMetrics): AnswerMetrics {
  const out: AnswerMetrics = { em: 0, acc: 0, f1: 0, math_equal: 0 };
  for (const one of wanted) {
    const found = of(one);
    for (const name of Object.keys(out) as (keyof AnswerMetrics)[]) {
      out[name] = Math.max(out[name], found[name]);
    }
  }
  return out;
}

/**
 * A mathematical prediction against its one reference. The texts are lower-cased first, as in the
 * reference, so `X` and `x` are equal here and different to the reward.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { mathMetrics } from "arpo-lab/experimental/evaluation";
 *
 * assert.equal(mathMetrics("1/2", "\\frac{1}{2}").math_equal, 1);
 * ```
 */
export function mathMetrics(prediction: unknown, reference: unknown): AnswerMetrics {
  return compare(normalizeForEvaluation(prediction), normalizeForEvaluation(reference));
}

/** As `mathMetrics`, with numbers and sets compared by value, and against the best of several references. */
export function numericMetrics(prediction: unknown, reference: unknown): AnswerMetrics {
  const given = normalizeForEvaluation(prediction);
  return best(Array.isArray(reference) ? reference : [reference], (one) => {
    const wanted = normalizeForEvaluation(one);
    return { ...compare(given, wanted), math_equal: Number(numericEquivalent(given, wanted)) };
  });
}

/** A text that starts with `[ is a list written as text. */
function references(reference: unknown): readonly unknown[] {
  if (Array.isArray(reference)) return reference;
  if (typeof reference !== "string" || !reference.startsWith("[")) return [reference];
  return reference
    .replace(/^[[\]]+|(?<![[\]])[[\]]+$/g, "")
    .split(",")
    .map(strip);
}

/**
 * A prediction against the best of its references, metric by metric; articles do not count.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { qaMetrics } from "arpo-lab/experimental/evaluation";
 *
 * assert.deepEqual(qaMetrics("Lyon", "[Paris, Lyon]"), { em: 1, acc: 1, f1: 1, math_equal: 1 });
 * ```
 */
export function qaMetrics(prediction: unknown, reference: unknown): AnswerMetrics {
  const given = normalizeForEvaluation(prediction, { articles: false });
  return best(references(reference), (one) =>
    compare(given, normalizeForEvaluation(one, { articles: false })),
  );
}
