/** An expression over symbols, by its number; equal expressions have equal numbers. */
export type Expression = number;

/** Symbols are bytes, and one more that stands for a token without a text. */
export const SPECIAL = 256;
const SYMBOLS = 257;

/** Texts of none, and the empty text. */
export const NONE: Expression = 0;
export const EMPTY: Expression = 1;

type Node =
  | { kind: "none" | "empty" }
  | { kind: "symbols"; set: Uint8Array }
  | { kind: "sequence" | "both"; first: Expression; second: Expression }
  | { kind: "any"; of: readonly Expression[] }
  | { kind: "repeat"; of: Expression; least: number; most: number }
  | { kind: "not"; of: Expression }
  | { kind: "rule"; name: string };

/** Expressions, members of alternatives and rows of states that one grammar may have; a row has 257 places. */
const MOST_WORK = 2_000_000;
const ROW_WORK = 40;
const MOST_ALTERNATIVES = 4_000;

/** Why a grammar cannot be had: it would take more than a bounded part of memory and time. */
export class GrammarLimit extends RangeError {}

/**
 * Expressions over bytes and their derivatives: what may follow once a symbol was read is an expression again, so an
 * expression is its own automaton, and states are made when they are asked for. Rules may refer to themselves.
 */
export class Grammar {
  readonly #nodes: Node[] = [{ kind: "none" }, { kind: "empty" }];
  readonly #mayEnd: boolean[] = [false, true];
  readonly #rows: (Int32Array | undefined)[] = [new Int32Array(SYMBOLS), new Int32Array(SYMBOLS)];
  readonly #borders: (Uint8Array | undefined)[] = [];
  readonly #known = new Map<string, Expression>();
  readonly #rules: Expression[] = [];
  #work = 0;

  /** How much was made so far: a grammar that has grown is better made anew. */
  get work(): number {
    return this.#work;
  }

  /** Whether a text may end here. */
  mayEnd(at: Expression): boolean {
    return this.#mayEnd[at]!;
  }

  /** What may follow a symbol; `NONE` where it may not come. */
  next(at: Expression, symbol: number): Expression {
    const row = this.#rowOf(at);
    const known = row[symbol]!;
    if (known >= 0) return known;
    return (row[symbol] = this.#derive(at, symbol));
  }

  #rowOf(at: Expression): Int32Array {
    const known = this.#rows[at];
    if (known) return known;
    this.#spend(ROW_WORK);
    return (this.#rows[at] = new Int32Array(SYMBOLS).fill(-1));
  }

  #spend(work: number): void {
    this.#work += work;
    if (this.#work > MOST_WORK) throw new GrammarLimit("too many states");
  }

  /** One symbol of these ranges. */
  symbols(...ranges: readonly (readonly [from: number, to: number])[]): Expression {
    const set = new Uint8Array(SYMBOLS);
    for (const [from, to] of ranges) set.fill(1, from, to + 1);
    return this.#ofSet(set);
  }

  /** Just these bytes. */
  literal(text: string): Expression {
    let all: Expression = EMPTY;
    const bytes = new TextEncoder().encode(text);
    for (let i = bytes.length - 1; i >= 0; i--) {
      all = this.sequence(this.symbols([bytes[i]!, bytes[i]!]), all);
    }
    return all;
  }

  sequence(...parts: readonly Expression[]): Expression {
    let all: Expression = EMPTY;
    for (let i = parts.length - 1; i >= 0; i--) all = this.#pair(parts[i]!, all);
    return all;
  }

  any(...of: readonly Expression[]): Expression {
    const members = new Set<Expression>();
    let set: Uint8Array | undefined;
    const add = (one: Expression): void => {
      const node = this.#nodes[one]!;
      if (node.kind === "any") for (const inner of node.of) add(inner);
      else if (node.kind === "symbols") {
        set ??= new Uint8Array(SYMBOLS);
        for (let i = 0; i < SYMBOLS; i++) set[i]! |= node.set[i]!;
      } else if (one !== NONE) members.add(one);
    };
    for (const one of of) add(one);
    if (set) members.add(this.#ofSet(set));
    const sorted = [...members].sort((a, b) => a - b);
    if (sorted.length < 2) return sorted[0] ?? NONE;
    if (sorted.length > MOST_ALTERNATIVES) throw new GrammarLimit("too many alternatives");
    const ends = sorted.some((one) => this.mayEnd(one));
    return this.#make(
      `|${sorted.join()}`,
      () => ({ kind: "any", of: sorted }),
      ends,
      sorted.length,
    );
  }

  optional(of: Expression): Expression {
    return this.any(EMPTY, of);
  }

  repeat(of: Expression, least: number, most = Infinity): Expression {
    if (of === EMPTY || most === 0) return EMPTY;
    if (of === NONE) return least === 0 ? EMPTY : NONE;
    if (least === 1 && most === 1) return of;
    const ends = least === 0 || this.mayEnd(of);
    return this.#make(`*${of},${least},${most}`, () => ({ kind: "repeat", of, least, most }), ends);
  }

  /** Texts that are of both. Its states must be seen to lead to an end: see `trimmed`. */
  both(a: Expression, b: Expression): Expression {
    if (a === b) return a;
    if (a === NONE || b === NONE) return NONE;
    for (const [one, other] of [
      [a, b],
      [b, a],
    ] as const) {
      const node = this.#nodes[one]!;
      if (node.kind === "not" && node.of === NONE) return other;
    }
    const [first, second] = a < b ? [a, b] : [b, a];
    const ends = this.mayEnd(a) && this.mayEnd(b);
    return this.#make(`&${first},${second}`, () => ({ kind: "both", first, second }), ends);
  }

  /** Every other text. Its states must be seen to lead to an end: see `trimmed`. */
  not(of: Expression): Expression {
    const node = this.#nodes[of]!;
    if (node.kind === "not") return node.of;
    return this.#make(`!${of}`, () => ({ kind: "not", of }), !this.mayEnd(of));
  }

  /** A rule that is written later and may refer to itself. */
  rule(name: string, mayEnd = false): Expression {
    const id = this.#make(`r${this.#rules.length}`, () => ({ kind: "rule", name }), mayEnd);
    this.#rules.push(id);
    return id;
  }

  readonly #written = new Map<Expression, Expression>();

  write(rule: Expression, is: Expression): void {
    this.#written.set(rule, is);
  }

  /** A rule none of whose texts ever ends, by its name. */
  endless(): string | undefined {
    const ending = new Set<Expression>();
    const looked = new Map<Expression, boolean>();
    const ends = (start: Expression): boolean => {
      let at = start;
      // A sequence may be long: it is walked along.
      for (let node = this.#nodes[at]!; node.kind === "sequence"; node = this.#nodes[at]!) {
        if (!ends(node.first)) return false;
        at = node.second;
      }
      let found = looked.get(at);
      if (found === undefined) looked.set(at, (found = endsAlone(this.#nodes[at]!, at)));
      return found;
    };
    const endsAlone = (node: Node, at: Expression): boolean => {
      if (node.kind === "any") return node.of.some(ends);
      if (node.kind === "repeat") return node.least === 0 || ends(node.of);
      if (node.kind === "rule") return ending.has(at);
      return node.kind !== "none";
    };
    for (let before = -1; before < ending.size;) {
      before = ending.size;
      looked.clear();
      for (const [rule, is] of this.#written) if (!ending.has(rule) && ends(is)) ending.add(rule);
    }
    const isEndless = (rule: Expression) =>
      (this.#written.get(rule) ?? NONE) !== NONE && !ending.has(rule);
    const found = this.#rules.find(isEndless);
    const node = found === undefined ? undefined : this.#nodes[found]!;
    return node?.kind === "rule" ? node.name : undefined;
  }

  /**
   * The same texts, where no state is left from which none can end. Looks at every state, of which there may be so
   * many.
   */
  trimmed(start: Expression, most = 6_000): Expression {
    const states = new Set([start]);
    const before = new Map<Expression, Expression[]>();
    for (const at of states) {
      const row = this.#rowOf(at);
      const borders = this.#bordersOf(at);
      let to: Expression = NONE;
      for (let symbol = 0; symbol < SYMBOLS; symbol++) {
        if (symbol === 0 || borders[symbol]) {
          to = this.next(at, symbol);
          if (to !== NONE) {
            states.add(to);
            const from = before.get(to);
            if (from) from.push(at);
            else before.set(to, [at]);
          }
        }
        row[symbol] = to;
      }
      if (states.size > most) throw new GrammarLimit(`more than ${most} states`);
    }
    const live = new Set([...states].filter((at) => this.mayEnd(at)));
    for (const at of live) for (const from of before.get(at) ?? []) live.add(from);
    for (const at of states) {
      const row = this.#rows[at]!;
      for (let i = 0; i < SYMBOLS; i++) if (row[i] !== NONE && !live.has(row[i]!)) row[i] = NONE;
    }
    return live.has(start) ? start : NONE;
  }

  /** Whether a text is one of these. */
  matches(start: Expression, text: string): boolean {
    let at = start;
    for (const byte of new TextEncoder().encode(text)) at = this.next(at, byte);
    return this.mayEnd(at);
  }

  #derive(at: Expression, symbol: number): Expression {
    const node = this.#nodes[at]!;
    switch (node.kind) {
      case "symbols":
        return node.set[symbol] ? EMPTY : NONE;
      case "sequence": {
        const inside = this.#pair(this.next(node.first, symbol), node.second);
        return this.mayEnd(node.first) ? this.any(inside, this.next(node.second, symbol)) : inside;
      }
      case "any":
        return this.any(...node.of.map((one) => this.next(one, symbol)));
      case "repeat": {
        const { of, least, most } = node;
        return this.#pair(this.next(of, symbol), this.repeat(of, Math.max(0, least - 1), most - 1));
      }
      case "both":
        return this.both(this.next(node.first, symbol), this.next(node.second, symbol));
      case "not":
        return this.not(this.next(node.of, symbol));
      case "rule":
        return this.next(this.#written.get(at)!, symbol);
      default:
        return NONE;
    }
  }

  /** 1 at every symbol that may lead elsewhere than the one before it. */
  #bordersOf(at: Expression): Uint8Array {
    const known = this.#borders[at];
    if (known) return known;
    const borders = new Uint8Array(SYMBOLS);
    const add = (other: Expression): void => {
      const more = this.#bordersOf(other);
      for (let i = 0; i < SYMBOLS; i++) borders[i]! |= more[i]!;
    };
    const node = this.#nodes[at]!;
    if (node.kind === "symbols") {
      for (let i = 1; i < SYMBOLS; i++) borders[i] = node.set[i] === node.set[i - 1] ? 0 : 1;
    } else if (node.kind === "sequence") {
      add(node.first);
      if (this.mayEnd(node.first)) add(node.second);
    } else if (node.kind === "both") {
      add(node.first);
      add(node.second);
    } else if (node.kind === "any") node.of.forEach(add);
    else if (node.kind === "repeat" || node.kind === "not") add(node.of);
    else if (node.kind === "rule") add(this.#written.get(at)!);
    return (this.#borders[at] = borders);
  }

  #pair(first: Expression, second: Expression): Expression {
    if (first === NONE || second === NONE) return NONE;
    if (first === EMPTY) return second;
    if (second === EMPTY) return first;
    const firsts: Expression[] = [];
    let last = first;
    for (let node = this.#nodes[last]!; node.kind === "sequence"; node = this.#nodes[last]!) {
      firsts.push(node.first);
      last = node.second;
    }
    let all = second;
    for (const one of [last, ...firsts.reverse()]) {
      const after = all;
      const ends = this.mayEnd(one) && this.mayEnd(after);
      all = this.#make(
        `.${one},${after}`,
        () => ({ kind: "sequence", first: one, second: after }),
        ends,
      );
    }
    return all;
  }

  #ofSet(set: Uint8Array): Expression {
    if (!set.includes(1)) return NONE;
    let key = "s";
    for (let i = 0; i < SYMBOLS; i++) if (set[i] !== (i === 0 ? 0 : set[i - 1])) key += `${i},`;
    return this.#make(key, () => ({ kind: "symbols", set }), false);
  }

  #make(key: string, node: () => Node, mayEnd: boolean, size = 1): Expression {
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    this.#spend(size);
    const id = this.#nodes.length;
    this.#nodes.push(node());
    this.#mayEnd.push(mayEnd);
    this.#known.set(key, id);
    return id;
  }
}
