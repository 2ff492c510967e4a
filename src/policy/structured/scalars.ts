import { anyCharacter } from "./characters.js";
import { formats } from "./formats.js";
import { type Expression, type Grammar, GrammarLimit, NONE } from "./grammar.js";
import { type Bounds, DIGITS, NumberForms, plainDigits } from "./numbers.js";
import { patternOf, PatternError } from "./pattern.js";
import { countIn, type Fields, SchemaError } from "./schema-parts.js";

/** Divisors that `multipleOf` may have: each rest is a state. */
const MOST_DIVISOR = 200;

/** Numbers and strings of JSON schemas as expressions. */
export class ScalarForms {
  readonly #grammar: Grammar;
  readonly #numbers: NumberForms;
  readonly #text: Expression;

  constructor(grammar: Grammar) {
    this.#grammar = grammar;
    this.#numbers = new NumberForms(grammar);
    this.#text = anyCharacter(grammar);
  }

  /** The numbers of several schemas. */
  number(all: readonly Fields[], whole: boolean): Expression {
    const g = this.#grammar;
    const bounds: Bounds = { least: -Infinity, above: false, most: Infinity, below: false };
    let isBound = false;
    let divisor: number | undefined;
    for (const fields of all) {
      for (const keyword of ["minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"]) {
        const value = fields[keyword];
        if (value === undefined) continue;
        if (typeof value !== "number" || !plainDigits(value)) {
          throw new SchemaError(keyword, `a number of at most ${DIGITS} digits`, value);
        }
        isBound = true;
        const isOut = keyword.startsWith("exclusive");
        if (keyword.endsWith("inimum")) {
          if (value > bounds.least || (value === bounds.least && isOut)) {
            Object.assign(bounds, { least: value, above: isOut });
          }
        } else if (value < bounds.most || (value === bounds.most && isOut)) {
          Object.assign(bounds, { most: value, below: isOut });
        }
      }
      const { multipleOf } = fields;
      if (multipleOf === undefined) continue;
      const isHeld =
        Number.isInteger(multipleOf) &&
        Number(multipleOf) >= 1 &&
        Number(multipleOf) <= MOST_DIVISOR;
      if (!isHeld || (divisor !== undefined && divisor !== multipleOf)) {
        throw new SchemaError(
          "multipleOf",
          `one whole number from 1 to ${MOST_DIVISOR}`,
          multipleOf,
        );
      }
      divisor = multipleOf as number;
    }
    const { least, most, above, below } = bounds;
    if (least > most || (least === most && (above || below))) return NONE;
    const isWhole = whole || divisor !== undefined;
    const found = isBound ? this.#numbers.within(bounds, isWhole) : this.#numbers.any(isWhole);
    if (divisor === undefined || divisor === 1) return found;
    return g.trimmed(g.both(found, this.#numbers.multiples(divisor)));
  }

  /** The inside of a string. */
  string(all: readonly Fields[]): Expression {
    const g = this.#grammar;
    let [least, most] = [0, Infinity];
    const found = new Set<Expression>();
    let named: [keyword: string, value: unknown] | undefined;
    const add = (keyword: string, value: unknown, source: string) => {
      named = [keyword, value];
      try {
        found.add(patternOf(g, source));
      } catch (error) {
        if (!(error instanceof PatternError)) throw error;
        throw new SchemaError(keyword, `an expression that can be held: ${error.message}`, value);
      }
    };
    for (const fields of all) {
      least = Math.max(least, countIn(fields, "minLength") ?? 0);
      most = Math.min(most, countIn(fields, "maxLength") ?? Infinity);
      const { pattern, format } = fields;
      if (pattern !== undefined) {
        if (typeof pattern !== "string") throw new SchemaError("pattern", "a text", pattern);
        add("pattern", pattern, pattern);
      }
      if (format !== undefined) {
        const known = typeof format === "string" && Object.hasOwn(formats, format);
        if (!known) {
          throw new SchemaError("format", `one of ${Object.keys(formats).join(", ")}`, format);
        }
        add("format", format, formats[format]!);
      }
    }
    if (least > most) return NONE;
    if (found.size === 0) return g.repeat(this.#text, least, most);
    const isLong = least > 0 || most < Infinity;
    const parts = [...found, ...(isLong ? [g.repeat(this.#text, least, most)] : [])];
    if (parts.length === 1) return parts[0]!;
    const [keyword, value] = named!;
    return this.bounded(keyword, value, () => parts.reduce((a, b) => g.both(a, b)));
  }

  /** What two expressions have in common, where that has not too many states. */
  bounded(keyword: string, value: unknown, make: () => Expression): Expression {
    try {
      return this.#grammar.trimmed(make());
    } catch (error) {
      if (!(error instanceof GrammarLimit)) throw error;
      throw new SchemaError(keyword, `one with fewer states (${error.message})`, value);
    }
  }
}
