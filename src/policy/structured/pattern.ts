import { anyCharacter, inString, inverted, type Range } from "./characters.js";
import { EMPTY, type Expression, type Grammar } from "./grammar.js";

/** Longest expression that is read, deepest groups, and the highest count of a repetition. */
const MOST_LENGTH = 2_000;
const MOST_DEPTH = 40;
const MOST_COUNT = 2_000;

/** Something of a regular expression that cannot be held. */
export class PatternError extends RangeError {}

const digits: readonly Range[] = [[48, 57]];
const word: readonly Range[] = [...digits, [65, 90], [95, 95], [97, 122]];
const space: readonly Range[] = [
  ...([
    [9, 13],
    [32, 32],
    [160, 160],
    [0x1680, 0x1680],
  ] as const),
  ...([
    [0x2000, 0x200a],
    [0x2028, 0x2029],
    [0x202f, 0x202f],
  ] as const),
  ...([
    [0x205f, 0x205f],
    [0x3000, 0x3000],
    [0xfeff, 0xfeff],
  ] as const),
];
const classes: Readonly<Record<string, readonly Range[]>> = {
  d: digits,
  D: inverted(digits),
  w: word,
  W: inverted(word),
  s: space,
  S: inverted(space),
};
const notDot: readonly Range[] = [
  [10, 10],
  [13, 13],
  [0x2028, 0x2029],
];
const controls: Readonly<Record<string, number>> = { n: 10, r: 13, t: 9, f: 12, v: 11, "0": 0 };

/** A regular expression as `pattern` has them: a match may stand anywhere in the string. */
class PatternReader {
  readonly #grammar: Grammar;
  readonly #source: readonly string[];
  #at = 0;
  #depth = 0;

  constructor(grammar: Grammar, source: string) {
    if (source.length > MOST_LENGTH) {
      throw new PatternError(`at most ${MOST_LENGTH} characters, got ${source.length}`);
    }
    this.#grammar = grammar;
    this.#source = [...source];
  }

  whole(): Expression {
    const anything = this.#grammar.repeat(anyCharacter(this.#grammar), 0);
    const all: Expression[] = [];
    do {
      const open = !this.#take("^");
      const inside = this.#sequence();
      const isOpen = !this.#take("$");
      if (this.#at < this.#source.length && this.#peek() !== "|") this.#refuse("an anchor inside");
      all.push(this.#grammar.sequence(open ? anything : EMPTY, inside, isOpen ? anything : EMPTY));
    } while (this.#take("|"));
    return this.#grammar.any(...all);
  }

  #refuse(what: string): never {
    throw new PatternError(`no ${what} (at ${this.#at} of ${this.#source.join("").slice(0, 80)})`);
  }

  #peek(ahead = 0): string | undefined {
    return this.#source[this.#at + ahead];
  }

  #take(sign: string): boolean {
    if (this.#peek() !== sign) return false;
    this.#at++;
    return true;
  }

  #sequence(): Expression {
    const parts: Expression[] = [];
    for (;;) {
      const sign = this.#peek();
      if (sign === undefined || sign === "|" || sign === ")" || sign === "$") break;
      parts.push(this.#quantified());
    }
    return this.#grammar.sequence(...parts);
  }

  #quantified(): Expression {
    let one = this.#atom();
    for (;;) {
      const sign = this.#peek();
      if (sign === "*" || sign === "+" || sign === "?") {
        this.#at++;
        one = this.#grammar.repeat(one, sign === "+" ? 1 : 0, sign === "?" ? 1 : Infinity);
      } else if (sign === "{") one = this.#counted(one);
      else return one;
      this.#take("?"); // how long a match is matters to nobody
    }
  }

  #counted(one: Expression): Expression {
    const text = this.#source.slice(this.#at, this.#at + 16).join("");
    const [all, least, comma, most] = /^\{(\d+)(,?)(\d*)\}/.exec(text) ?? [];
    if (all === undefined) this.#refuse("brace that is no count");
    this.#at += all.length;
    const from = Number(least);
    const to = comma === "" ? from : most === "" ? Infinity : Number(most);
    if (from > MOST_COUNT || (to > MOST_COUNT && to !== Infinity)) {
      this.#refuse(`count above ${MOST_COUNT}`);
    }
    if (to < from) this.#refuse("count that falls");
    return this.#grammar.repeat(one, from, to);
  }

  #atom(): Expression {
    const sign = this.#source[this.#at++]!;
    if (sign === "(") return this.#group();
    if (sign === "[") return inString(this.#grammar, this.#set());
    if (sign === ".") return inString(this.#grammar, inverted(notDot));
    if (sign === "\\") return inString(this.#grammar, this.#escape(false));
    if (sign === "^") this.#refuse("an anchor inside");
    if ("*+?{}]".includes(sign)) this.#refuse(`${sign} here`);
    const code = sign.codePointAt(0)!;
    return inString(this.#grammar, [[code, code]]);
  }

  #group(): Expression {
    if (this.#take("?")) {
      const named = this.#peek() === "<" && !"=!".includes(this.#peek(1) ?? "=");
      if (named) while (this.#at < this.#source.length && !this.#take(">")) this.#at++;
      else if (!this.#take(":")) this.#refuse("look-around");
    }
    if (++this.#depth > MOST_DEPTH) this.#refuse(`groups deeper than ${MOST_DEPTH}`);
    const all: Expression[] = [];
    do all.push(this.#sequence());
    while (this.#take("|"));
    if (!this.#take(")")) this.#refuse(this.#peek() === "$" ? "anchor in a group" : "open group");
    this.#depth--;
    return this.#grammar.any(...all);
  }

  #set(): readonly Range[] {
    const isInverted = this.#take("^");
    const ranges: Range[] = [];
    while (!this.#take("]")) {
      const low = this.#member();
      if (this.#peek() === "-" && this.#peek(1) !== "]" && low.length === 1) {
        this.#at++;
        const high = this.#member();
        const [from, to] = [low[0]![0], high[0]![1]];
        if (high.length > 1 || to < from) this.#refuse("range that falls");
        ranges.push([from, to]);
      } else ranges.push(...low);
    }
    return isInverted ? inverted(ranges) : ranges;
  }

  #member(): readonly Range[] {
    const sign = this.#source[this.#at++];
    if (sign === undefined) return this.#refuse("open class");
    if (sign === "\\") return this.#escape(true);
    const code = sign.codePointAt(0)!;
    return [[code, code]];
  }

  #escape(inSet: boolean): readonly Range[] {
    const sign = this.#source[this.#at++] ?? "";
    const named = classes[sign];
    if (named) return named;
    const one = (code: number): readonly Range[] => [[code, code]];
    if (sign in controls) return one(controls[sign]!);
    if (inSet && sign === "b") return one(8);
    if (sign === "x" || sign === "u") {
      const text = this.#source.slice(this.#at, this.#at + 12).join("");
      const shape = sign === "x" ? /^([0-9a-f]{2})/i : /^(?:([0-9a-f]{4})|\{([0-9a-f]{1,6})\})/i;
      const [all, short, long] = shape.exec(text) ?? [];
      const code = parseInt(short ?? long ?? "", 16);
      if (all === undefined || !(code <= 0x10ffff)) this.#refuse(`\\${sign} here`);
      this.#at += all.length;
      return one(code);
    }
    // Back-references, word boundaries, properties and control letters.
    if (/[a-z0-9]/i.test(sign) || sign === "") this.#refuse(`\\${sign}`);
    return one(sign.codePointAt(0)!);
  }
}

/** The insides of JSON strings that a regular expression finds a match in. */
export const patternOf = (grammar: Grammar, source: string): Expression =>
  new PatternReader(grammar, source).whole();
