import { Fraction } from "./fraction.js";

/** A value while calculating: exact as long as that is possible. */
type Value = Fraction | number;

const longest = 10_000;
const deepest = 200;

const toNumber = (v: Value) => (typeof v === "number" ? v : v.toNumber());

function exact(name: string, v: Value): bigint {
  if (typeof v !== "number" && v.isInteger) return v.numerator;
  if (typeof v === "number" && Number.isInteger(v)) return BigInt(v);
  throw new RangeError(`${name} needs whole numbers, got ${show(v)}`);
}

function gcd(a: bigint, b: bigint): bigint {
  while (b !== 0n) [a, b] = [b, a % b];
  return a < 0n ? -a : a;
}

function factorial(v: Value): Fraction {
  const n = exact("factorial", v);
  if (n < 0n || n > 1000n) throw new RangeError(`factorial needs 0 to 1000, got ${n}`);
  let product = 1n;
  for (let i = 2n; i <= n; i++) product *= i;
  return new Fraction(product);
}

/** Square root, exact for squares of fractions. */
function sqrt(v: Value): Value {
  if (typeof v !== "number" && v.numerator >= 0n) {
    const root = (n: bigint) => {
      const r = BigInt(Math.round(Math.sqrt(Number(n))));
      return r * r === n ? r : undefined;
    };
    const top = root(v.numerator);
    const bottom = root(v.denominator);
    if (top !== undefined && bottom !== undefined) return new Fraction(top, bottom);
  }
  return Math.sqrt(toNumber(v));
}

const first = (values: Value[]) => values[0]!;
const real = (f: (x: number) => number) => (values: Value[]) => f(toNumber(first(values)));

/** Rounds to whole numbers, exactly for fractions. */
const rounded = (f: (v: Fraction) => bigint, g: (x: number) => number) => (values: Value[]) => {
  const v = first(values);
  return typeof v === "number" ? g(v) : new Fraction(f(v));
};

const extreme = (sign: number) => (values: Value[]) =>
  values.reduce((best, v) => (sign * (toNumber(v) - toNumber(best)) > 0 ? v : best));

/** Name, the least and the greatest number of arguments, and what it does. */
const functions: Record<string, [number, number, (values: Value[]) => Value] | undefined> = {
  __proto__: undefined as never,
  sqrt: [1, 1, (v) => sqrt(first(v))],
  abs: [1, 1, (v) => (toNumber(first(v)) < 0 ? negate(first(v)) : first(v))],
  floor: [1, 1, rounded((v) => v.floor(), Math.floor)],
  ceil: [1, 1, rounded((v) => -v.negate().floor(), Math.ceil)],
  round: [1, 1, rounded((v) => v.add(new Fraction(1n, 2n)).floor(), Math.round)],
  min: [1, Infinity, extreme(-1)],
  max: [1, Infinity, extreme(1)],
  gcd: [2, 2, ([a, b]) => new Fraction(gcd(exact("gcd", a!), exact("gcd", b!)))],
  factorial: [1, 1, (v) => factorial(first(v))],
  exp: [1, 1, real(Math.exp)],
  ln: [1, 1, real(Math.log)],
  log: [1, 2, ([x, b]) => Math.log(toNumber(x!)) / (b === undefined ? 1 : Math.log(toNumber(b)))],
  log2: [1, 1, real(Math.log2)],
  log10: [1, 1, real(Math.log10)],
  sin: [1, 1, real(Math.sin)],
  cos: [1, 1, real(Math.cos)],
  tan: [1, 1, real(Math.tan)],
  asin: [1, 1, real(Math.asin)],
  acos: [1, 1, real(Math.acos)],
  atan: [1, 1, real(Math.atan)],
};
const constants = new Map([
  ["pi", Math.PI],
  ["e", Math.E],
]);

const negate = (v: Value): Value => (typeof v === "number" ? -v : v.negate());

function power(base: Value, exponent: Value): Value {
  if (typeof base !== "number" && typeof exponent !== "number" && exponent.isInteger) {
    const bits = base.bits * Math.abs(Number(exponent.numerator));
    if (bits > 4 * longest) throw new RangeError("the result has too many digits");
    return base.power(exponent.numerator);
  }
  return toNumber(base) ** toNumber(exponent);
}

const operators: Record<string, (a: Value, b: Value) => Value> = {
  "+": (a, b) => both(a, b, (x, y) => x.add(y)) ?? toNumber(a) + toNumber(b),
  "-": (a, b) => both(a, b, (x, y) => x.add(y.negate())) ?? toNumber(a) - toNumber(b),
  "*": (a, b) => both(a, b, (x, y) => x.multiply(y)) ?? toNumber(a) * toNumber(b),
  "/": (a, b) => both(a, b, (x, y) => x.divide(y)) ?? toNumber(a) / divisor(b),
  "//": (a, b) =>
    both(a, b, (x, y) => new Fraction(x.divide(y).floor())) ?? Math.floor(toNumber(a) / divisor(b)),
  "%": (a, b) =>
    both(a, b, (x, y) => x.add(y.multiply(new Fraction(x.divide(y).floor())).negate())) ??
    toNumber(a) - toNumber(b) * Math.floor(toNumber(a) / divisor(b)),
};

function both(a: Value, b: Value, f: (x: Fraction, y: Fraction) => Fraction): Fraction | undefined {
  return typeof a === "number" || typeof b === "number" ? undefined : f(a, b);
}

function divisor(v: Value): number {
  const n = toNumber(v);
  if (n === 0) throw new RangeError("division by zero");
  return n;
}

function show(v: Value): string {
  if (typeof v !== "number") return v.isInteger ? String(v.numerator) : String(v.toNumber());
  if (!Number.isFinite(v)) throw new RangeError(`the result is not a finite number`);
  return String(v);
}

/** Reads an expression by recursive descent and calculates as it goes. */
class Reader {
  readonly #tokens: string[];
  #at = 0;
  #depth = 0;

  constructor(text: string) {
    if (text.length > longest) {
      throw new RangeError(`at most ${longest} characters, got ${text.length}`);
    }
    const pattern =
      /\s*(\d[\d_]*\.?\d*(?:[eE][+-]?\d+)?|\.\d+|[A-Za-z]\w*|\*\*|\/\/|[-+*/%^(),!])\s*/y;
    this.#tokens = [];
    const source = text.replace(/×/g, "*").replace(/÷/g, "/").replace(/−/g, "-");
    while (pattern.lastIndex < source.length) {
      const start = pattern.lastIndex;
      const match = pattern.exec(source);
      if (!match) {
        throw new SyntaxError(
          `unexpected ${JSON.stringify([...source.slice(start).trim()][0] ?? "")}`,
        );
      }
      this.#tokens.push(match[1]!);
    }
  }

  read(): Value {
    if (this.#tokens.length === 0) throw new SyntaxError("nothing to calculate");
    const value = this.#sum();
    if (this.#at < this.#tokens.length) {
      throw new SyntaxError(`unexpected ${JSON.stringify(this.#tokens[this.#at])}`);
    }
    return value;
  }

  #take(...wanted: string[]): string | undefined {
    const token = this.#tokens[this.#at];
    if (token === undefined || !wanted.includes(token)) return undefined;
    this.#at++;
    return token;
  }

  #sum(): Value {
    if (++this.#depth > deepest) throw new RangeError("brackets are nested too deeply");
    let value = this.#product();
    for (let op = this.#take("+", "-"); op; op = this.#take("+", "-")) {
      value = operators[op]!(value, this.#product());
    }
    this.#depth--;
    return value;
  }

  #product(): Value {
    let value = this.#signed();
    for (let op = this.#take("*", "/", "//", "%"); op; op = this.#take("*", "/", "//", "%")) {
      value = operators[op]!(value, this.#signed());
    }
    return value;
  }

  #signed(): Value {
    let sign = 1;
    for (let op = this.#take("+", "-"); op; op = this.#take("+", "-")) if (op === "-") sign = -sign;
    const base = this.#postfix();
    const value = this.#take("^", "**") ? this.#raise(base) : base;
    return sign < 0 ? negate(value) : value;
  }

  #raise(base: Value): Value {
    if (++this.#depth > deepest) throw new RangeError("powers are nested too deeply");
    const value = power(base, this.#signed());
    this.#depth--;
    return value;
  }

  #postfix(): Value {
    let value = this.#atom();
    while (this.#take("!")) value = factorial(value);
    return value;
  }

  #atom(): Value {
    const token = this.#tokens[this.#at++];
    if (token === undefined) throw new SyntaxError("unexpected end");
    if (/^[\d.]/.test(token)) return Fraction.parse(token.replace(/_/g, ""));
    if (token === "(") {
      const value = this.#sum();
      if (!this.#take(")")) throw new SyntaxError('expected ")"');
      return value;
    }
    const name = token.replace(/^math_/, "");
    const constant = constants.get(name);
    if (constant !== undefined) return constant;
    const entry = Object.hasOwn(functions, name) ? functions[name] : undefined;
    if (!entry) throw new SyntaxError(`unexpected ${JSON.stringify(token)}`);
    const [least, most, apply] = entry;
    if (!this.#take("(")) throw new SyntaxError(`expected "(" after ${name}`);
    const values = [this.#sum()];
    while (this.#take(",")) values.push(this.#sum());
    if (!this.#take(")")) throw new SyntaxError('expected ")"');
    if (values.length < least || values.length > most) {
      throw new SyntaxError(
        `${name} takes ${least} argument${least > 1 ? "s" : ""}, got ${values.length}`,
      );
    }
    return apply(values);
  }
}

/** The value of an arithmetic expression as text. */
export function calculate(expression: string): string {
  return show(new Reader(expression).read());
}
