import { checkArguments } from "../../../common/options/check-arguments.js";
import { Fraction } from "../../tools/calculator/fraction.js";
import { mathEquivalent, normalizeMath } from "./math-equivalence.js";

/** An answer by its value: a number, several in an order or in none, or text that is no number. */
type Value =
  | { kind: "number"; number: Fraction }
  | { kind: "set"; items: Value[] }
  | { kind: "tuple"; brackets: string; items: Value[] }
  | { kind: "text"; text: string };

/** Longer numbers are compared as text: reading them exactly takes its time. */
const longestNumber = 400;
/** Longer lists are compared as text. */
const longestList = 200;

/** Longer answers are compared as text: what is boxed is a value and not an essay. */
const longestAnswer = 10_000;
/** Lists in lists, no deeper than this; what is deeper is text. */
const deepest = 20;

/** A comma with space beside it: it separates items, never thousands. The reference's form has no spaces. */
const separator = "\u{e000}";
const spacedComma = /(?<!\s)\s+,|,(?:\s|~|\\[ ;:]|\\q?quad(?![a-z]))+/g;

/** An answer in the reference's form, without what separates thousands and without units. */
function normal(answer: string): string {
  const text = answer
    .replaceAll("{,}", ",")
    .replace(spacedComma, separator)
    .replaceAll("\\,", "")
    .replaceAll("\u2212", "-")
    .replaceAll("$", "")
    .replace(/\\?%$|\.$/, "");
  try {
    return normalizeMath(text);
  } catch {
    // Not swallowed: what has no normal form is compared as it stands.
    return text;
  }
}

function decimal(text: string): Fraction | undefined {
  const match = /^([-+]?)((?:\d+\.?\d*|\.\d+)(?:e[-+]?\d{1,3})?)$/i.exec(text);
  if (!match) return undefined;
  const value = Fraction.parse(match[2]!);
  return match[1] === "-" ? value.negate() : value;
}

/** A number as people write it: `1,000`, `-0.50`, `1/2`, `\frac{1}{2}`, `1\frac{1}{2}`, `2\times10^{3}`. */
function numberOf(text: string): Fraction | undefined {
  if (text.length > longestNumber) return undefined;
  const plain = /^[-+]?\d{1,3}(?:,\d{3})+(?:\.\d+)?$/.test(text) ? text.replaceAll(",", "") : text;
  const power = /^(.+?)\\(?:times|cdot)10\^\{?([-+]?\d{1,3})\}?$/.exec(plain);
  if (power) {
    const ten = new Fraction(10n).power(BigInt(power[2]!));
    return numberOf(power[1]!)?.multiply(ten);
  }
  const mixed = /^([-+]?)(\d*)\\frac\{([^{}]+)\}\{([^{}]+)\}$/.exec(plain);
  const slash = /^([^/]+)\/([^/]+)$/.exec(plain);
  if (!mixed && !slash) return decimal(plain);
  const over = decimal(mixed ? mixed[3]! : slash![1]!);
  const under = decimal(mixed ? mixed[4]! : slash![2]!);
  if (!over || !under || under.numerator === 0n) return undefined;
  const part = over.divide(under);
  if (!mixed) return part;
  const value = mixed[2] === "" ? part : part.add(new Fraction(BigInt(mixed[2]!)));
  return mixed[1] === "-" ? value.negate() : value;
}

/** The pieces between the commas that stand in no brackets. */
function items(text: string): string[] {
  const out: string[] = [];
  let [depth, from] = [0, 0];
  for (let i = 0; i < text.length; i++) {
    if ("([{".includes(text[i]!)) depth++;
    else if (")]}".includes(text[i]!)) depth--;
    else if ((text[i] === "," || text[i] === separator) && depth === 0) {
      out.push(text.slice(from, i));
      from = i + 1;
    }
  }
  return [...out, text.slice(from)];
}

function read(text: string, depth = 0): Value {
  const value: Value = { kind: "text", text: text.replaceAll(separator, ",") };
  if (text.length > longestAnswer || depth > deepest) return value;
  const inside = (item: string): Value => read(item, depth + 1);
  const number = numberOf(text);
  if (number) return { kind: "number", number };
  const braces = /^\\\{(.*)\\\}$/s.exec(text);
  const brackets = /^([([])(.*)([)\]])$/s.exec(text);
  const inner = items(braces?.[1] ?? brackets?.[2] ?? text);
  if (inner.length > longestList) return value;
  if (braces) return { kind: "set", items: inner.map(inside) };
  if (inner.length === 1) return brackets?.[0] === `(${inner[0]})` ? inside(inner[0]!) : value;
  if (!brackets) return { kind: "set", items: inner.map(inside) };
  return { kind: "tuple", brackets: brackets[1]! + brackets[3]!, items: inner.map(inside) };
}

function same(a: Value, b: Value): boolean {
  if (a.kind === "number" && b.kind === "number") {
    const { numerator, denominator } = a.number;
    return numerator === b.number.numerator && denominator === b.number.denominator;
  }
  if (a.kind === "tuple" && b.kind === "tuple") {
    const alike = a.brackets === b.brackets && a.items.length === b.items.length;
    return alike && a.items.every((item, i) => same(item, b.items[i]!));
  }
  if (a.kind === "set" && b.kind === "set") {
    const left = [...b.items];
    return (
      a.items.length === left.length &&
      a.items.every((item) => {
        const at = left.findIndex((other) => same(item, other));
        if (at >= 0) left.splice(at, 1);
        return at >= 0;
      })
    );
  }
  return a.kind === "text" && b.kind === "text" && a.text === b.text;
}

/**
 * Whether two answers have the same value: what `mathEquivalent` takes for the same, and beyond that
 * numbers however they are written, and sets in any order. The reference compares texts alone, so its
 * figures are those of `mathEquivalent`.
 *
 * @param a one answer
 * @param b the other answer
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { numericEquivalent } from "arpo-lab/learn";
 *
 * assert.ok(numericEquivalent("1,000", "1000"));
 * assert.ok(numericEquivalent("0.50", "1/2"));
 * assert.ok(numericEquivalent("\\{2,1\\}", "\\{1, 2\\}"));
 * assert.ok(!numericEquivalent("(2,1)", "(1,2)"));
 * assert.ok(!numericEquivalent("1234", "1, 234"));
 * ```
 */
export function numericEquivalent(a: string, b: string): boolean {
  checkArguments("compare answers", { a, b }, { a: "text", b: "text" });
  return mathEquivalent(a, b) || same(read(normal(a)), read(normal(b)));
}
