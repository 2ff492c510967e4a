/** An exact fraction in lowest terms, the sign in the numerator. */
export class Fraction {
  readonly numerator: bigint;
  readonly denominator: bigint;

  constructor(numerator: bigint, denominator = 1n) {
    for (const part of [numerator, denominator]) {
      if (typeof part === "bigint") continue;
      throw new TypeError(`Cannot make a fraction: its parts must be bigints, got ${String(part)}`);
    }
    if (denominator === 0n) throw new RangeError("division by zero");
    let [a, b] = [numerator, denominator];
    while (b !== 0n) [a, b] = [b, a % b];
    const divisor = a < 0n === denominator < 0n ? a : -a;
    this.numerator = numerator / divisor;
    this.denominator = denominator / divisor;
  }

  /** Reads "12", "1.5" or "2e-3" exactly. */
  static parse(text: string): Fraction {
    const match = /^(\d*)\.?(\d*)(?:[eE]([+-]?\d+))?$/.exec(text);
    if (!match || (match[1] === "" && match[2] === "")) {
      throw new SyntaxError(`${JSON.stringify(text)} is not a number`);
    }
    const [, whole = "", part = "", exponent = "0"] = match;
    const shift = Number(exponent) - part.length;
    if (Math.abs(shift) > 10_000) throw new RangeError(`${text} has too many digits`);
    const digits = BigInt(whole + part);
    return shift >= 0
      ? new Fraction(digits * 10n ** BigInt(shift))
      : new Fraction(digits, 10n ** BigInt(-shift));
  }

  get isInteger(): boolean {
    return this.denominator === 1n;
  }

  /** About how many bits the larger half takes. */
  get bits(): number {
    const digits = Math.max(String(this.numerator).length, String(this.denominator).length);
    return this.isInteger && (this.numerator === 0n || this.numerator ** 2n === 1n)
      ? 0
      : Math.ceil(digits * 3.33);
  }

  add(other: Fraction): Fraction {
    return new Fraction(
      this.numerator * other.denominator + other.numerator * this.denominator,
      this.denominator * other.denominator,
    );
  }

  multiply(other: Fraction): Fraction {
    return new Fraction(this.numerator * other.numerator, this.denominator * other.denominator);
  }

  divide(other: Fraction): Fraction {
    return new Fraction(this.numerator * other.denominator, this.denominator * other.numerator);
  }

  negate(): Fraction {
    return new Fraction(-this.numerator, this.denominator);
  }

  power(exponent: bigint): Fraction {
    return exponent >= 0n
      ? new Fraction(this.numerator ** exponent, this.denominator ** exponent)
      : new Fraction(this.denominator ** -exponent, this.numerator ** -exponent);
  }

  /** The greatest whole number not above it. */
  floor(): bigint {
    const cut = this.numerator / this.denominator;
    return this.numerator < 0n && !this.isInteger ? cut - 1n : cut;
  }

  toNumber(): number {
    // Scaled to 30 significant digits first: both halves may be far beyond what a double holds.
    const size = String(this.numerator).length - String(this.denominator).length;
    const shift = 30 - size;
    const scaled =
      shift >= 0
        ? (this.numerator * 10n ** BigInt(shift)) / this.denominator
        : this.numerator / (this.denominator * 10n ** BigInt(-shift));
    return Number(`${scaled}e${-shift}`);
  }
}
