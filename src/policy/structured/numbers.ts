import { EMPTY, type Expression, type Grammar, NONE } from "./grammar.js";

/** Digits that a double tells apart in every place. */
export const DIGITS = 15;

/** Numbers between two bounds; `above` and `below`: without the bounds themselves. */
export interface Bounds {
  least: number;
  above: boolean;
  most: number;
  below: boolean;
}

/** Numbers in the forms that are written here: at most 15 digits before the point, and as many in all near a bound. */
export class NumberForms {
  readonly #grammar: Grammar;
  readonly #digit: Expression;
  readonly #multiples = new Map<number, Expression>();

  constructor(grammar: Grammar) {
    this.#grammar = grammar;
    this.#digit = this.#digits(0, 9);
  }

  /** Any number; `whole`: without a point or an exponent. */
  any(whole: boolean): Expression {
    const g = this.#grammar;
    const head = g.any(
      this.#digits(0, 0),
      g.sequence(this.#digits(1, 9), this.#free(0, DIGITS - 1)),
    );
    const signed = g.sequence(g.optional(g.literal("-")), head);
    if (whole) return signed;
    const exponent = g.sequence(
      g.any(g.literal("e"), g.literal("E")),
      g.optional(g.any(g.literal("+"), g.literal("-"))),
      this.#free(1, 2),
    );
    return g.sequence(signed, g.optional(this.#fraction(DIGITS)), g.optional(exponent));
  }

  /** Numbers within bounds. */
  within({ least, above, most, below }: Bounds, whole: boolean): Expression {
    const g = this.#grammar;
    const sides: Expression[] = [];
    if (most > 0 || (most === 0 && !below)) {
      const zero = least < 0 || (least === 0 && !above);
      sides.push(this.#size(zero ? 0 : least, !zero && above, most, below, whole));
    }
    if (least < 0) {
      const size = this.#size(
        ...([Math.max(0, -most), most >= 0 || below, -least, above, whole] as const),
      );
      sides.push(g.sequence(g.literal("-"), size));
    }
    return g.any(...sides);
  }

  /** Whole numbers that a whole number divides. */
  multiples(of: number): Expression {
    const known = this.#multiples.get(of);
    if (known !== undefined) return known;
    const g = this.#grammar;
    const rests = Array.from({ length: of }, (_, rest) => g.rule("multipleOf", rest === 0));
    const follow = (rest: number, from: number) =>
      g.any(
        ...Array.from({ length: 10 - from }, (_, i) =>
          g.sequence(this.#digits(i + from, i + from), rests[(rest * 10 + i + from) % of]!),
        ),
      );
    rests.forEach((rule, rest) => {
      g.write(rule, rest === 0 ? g.optional(follow(rest, 0)) : follow(rest, 0));
    });
    const made = g.sequence(g.optional(g.literal("-")), follow(0, 0));
    this.#multiples.set(of, made);
    return made;
  }

  #digits(from: number, to: number): Expression {
    return from > to ? NONE : this.#grammar.symbols([48 + from, 48 + to]);
  }

  #free(least: number, most: number): Expression {
    return this.#grammar.repeat(this.#digit, least, most);
  }

  #fraction(most: number): Expression {
    return this.#grammar.sequence(this.#grammar.literal("."), this.#free(1, most));
  }

  /** Numbers without a sign. */
  #size(least: number, above: boolean, most: number, below: boolean, whole: boolean): Expression {
    const g = this.#grammar;
    const [a, b] = parts(least);
    const isOpen = most === Infinity;
    const [c, d] = isOpen ? ["9".repeat(DIGITS), ""] : parts(most);
    const [low, high] = [Number(a), Number(c)];
    if (whole) {
      const from = b !== "" || above ? low + 1 : low;
      const to = d === "" && below ? high - 1 : high;
      return this.#wholes(from, to);
    }
    // So many that a double tells each from the next: none is rounded over a bound.
    const places = Math.max(0, DIGITS - (isOpen ? a : c).length);
    const limit = g.optional(this.#fraction(places));
    const ofEnd = (digits: string, fraction: Expression) =>
      g.sequence(g.literal(digits), g.trimmed(g.both(fraction, limit)));
    const from = this.#fractionFrom(b, above);
    const to = isOpen ? limit : this.#fractionTo(d, below);
    if (low > high) return NONE;
    if (low === high) return ofEnd(a, g.both(from, to));
    return g.any(ofEnd(a, from), g.sequence(this.#wholes(low + 1, high - 1), limit), ofEnd(c, to));
  }

  /** Whole numbers from one to another, without a sign. */
  #wholes(from: number, to: number): Expression {
    const all: Expression[] = [];
    for (let length = 1; length <= DIGITS; length++) {
      const least = Math.max(from, length === 1 ? 0 : 10 ** (length - 1));
      const most = Math.min(to, 10 ** length - 1);
      if (least <= most) all.push(this.#alike(String(least), String(most)));
    }
    return this.#grammar.any(...all);
  }

  /** Digits from one number to another of the same length. */
  #alike(from: string, to: string): Expression {
    if (from === "") return EMPTY;
    const g = this.#grammar;
    const [a, b] = [Number(from[0]), Number(to[0])];
    const [x, y] = [from.slice(1), to.slice(1)];
    if (a === b) return g.sequence(this.#digits(a, a), this.#alike(x, y));
    const n = x.length;
    return g.any(
      g.sequence(this.#digits(a, a), this.#alike(x, "9".repeat(n))),
      g.sequence(this.#digits(a + 1, b - 1), this.#free(n, n)),
      g.sequence(this.#digits(b, b), this.#alike("0".repeat(n), y)),
    );
  }

  #fractionFrom(digits: string, above: boolean): Expression {
    const g = this.#grammar;
    const written = g.sequence(g.literal("."), this.#from(digits, above));
    return digits === "" && !above ? g.optional(written) : written;
  }

  /** Digits behind the point of at least so much. */
  #from(digits: string, above: boolean): Expression {
    const g = this.#grammar;
    if (digits === "") {
      if (!above) return this.#free(1, Infinity);
      const zeros = g.repeat(this.#digits(0, 0), 0);
      return g.sequence(zeros, this.#digits(1, 9), this.#free(0, Infinity));
    }
    const first = Number(digits[0]);
    const rest = digits.slice(1);
    const more = rest === "" && !above ? this.#free(0, Infinity) : this.#from(rest, above);
    return g.any(
      g.sequence(this.#digits(first + 1, 9), this.#free(0, Infinity)),
      g.sequence(this.#digits(first, first), more),
    );
  }

  #fractionTo(digits: string, below: boolean): Expression {
    const g = this.#grammar;
    const written = g.sequence(g.literal("."), this.#to(digits, below));
    return digits === "" && below ? NONE : g.optional(written);
  }

  /** Digits behind the point of at most so much. */
  #to(digits: string, below: boolean): Expression {
    const g = this.#grammar;
    const zeros = this.#digits(0, 0);
    if (digits === "") return below ? NONE : g.repeat(zeros, 1);
    const first = Number(digits[0]);
    const rest = digits.slice(1);
    const ending = below ? NONE : g.repeat(zeros, 0);
    const more = rest === "" ? ending : g.optional(this.#to(rest, below));
    return g.any(
      g.sequence(this.#digits(0, first - 1), this.#free(0, Infinity)),
      g.sequence(this.#digits(first, first), more),
    );
  }
}

/** Digits before and behind the point; undefined where they are more than a double tells apart. */
export function plainDigits(value: number): [string, string] | undefined {
  const text = String(Math.abs(value));
  if (!/^\d+(\.\d+)?$/.test(text)) return undefined;
  const [whole, fraction = ""] = text.split(".") as [string, string?];
  return whole.length + fraction.length > DIGITS ? undefined : [whole, fraction];
}

const parts = (value: number): [string, string] => plainDigits(value)!;
