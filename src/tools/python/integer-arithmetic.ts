const longest = 200;
const tokens = /\s*(?:(\d+)|(\/\/|[-+*%()]))/y;

/**
 * What Python prints for arithmetic on whole numbers: `1069 - 40`, `print((3 + 4) * -2 // 5)`. Undefined for all other
 * code, also where Python would report an error.
 */
export function integerArithmetic(code: string): string | undefined {
  const text = code.trimEnd();
  if (text.length > longest || !/^(?:[-+(\d]|print\()[^\n\r]*$/.test(text)) return undefined;
  const read = tokensOf(/^print\((.*)\)$/.exec(text)?.[1] ?? text);
  if (read === undefined) return undefined;
  let at = 0;
  const next = (...wanted: string[]): string | undefined =>
    wanted.includes(read[at] ?? "") ? read[at++] : undefined;
  /** A number, with signs before it, or a sum in parentheses. */
  function factor(): bigint {
    const sign = next("-", "+");
    if (sign !== undefined) return sign === "-" ? -factor() : factor();
    if (next("(") !== undefined) {
      const inner = sum();
      if (next(")") === undefined) throw new SyntaxError("no closing parenthesis");
      return inner;
    }
    return BigInt(read![at++] ?? "none");
  }
  function product(): bigint {
    let value = factor();
    for (let sign; (sign = next("*", "//", "%")) !== undefined;) {
      const by = factor();
      // Python's rest has the sign of the divisor.
      const rest = sign === "*" ? 0n : ((value % by) + by) % by;
      value = sign === "*" ? value * by : sign === "%" ? rest : (value - rest) / by;
    }
    return value;
  }
  function sum(): bigint {
    let value = product();
    for (let sign; (sign = next("+", "-")) !== undefined;)
      value = sign === "+" ? value + product() : value - product();
    return value;
  }
  try {
    const value = sum();
    return at === read.length ? String(value) : undefined;
  } catch {
    return undefined; // Python says what is wrong
  }
}

/** Numbers and signs; undefined where there is anything else, or a number that starts with 0. */
function tokensOf(text: string): string[] | undefined {
  const found: string[] = [];
  tokens.lastIndex = 0;
  while (tokens.lastIndex < text.length) {
    const [, number, sign] = tokens.exec(text) ?? [];
    if (number === undefined && sign === undefined) return undefined;
    if (number !== undefined && /^0\d/.test(number)) return undefined;
    found.push(number ?? sign!);
  }
  return found;
}
