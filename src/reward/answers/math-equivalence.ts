/** Splits after each occurrence of a command; the pieces after the first each follow one. */
function following(text: string, command: string): [head: string, ...tails: string[]] {
  return text.split(command) as [string, ...string[]];
}

function outOfText(command: string): RangeError {
  return new RangeError(`Cannot normalise: an argument must follow ${command}, got the end`);
}

/** First code point: Python indexes by these, JavaScript by halves of some of them. */
function firstOf(text: string): string {
  const point = text.codePointAt(0);
  return point === undefined ? "" : String.fromCodePoint(point);
}

/** `\sqrt3` -> `\sqrt{3}`. */
function bracedRoots(text: string): string {
  const [head, ...tails] = following(text, "\\sqrt");
  return tails.reduce((done, tail) => {
    if (tail === "") throw outOfText("\\sqrt");
    if (tail.startsWith("{")) return `${done}\\sqrt${tail}`;
    const radicand = firstOf(tail);
    return `${done}\\sqrt{${radicand}}${tail.slice(radicand.length)}`;
  }, head);
}

/** `\frac12` -> `\frac{1}{2}` and `\frac1{72}` -> `\frac{1}{72}`, but not `\frac{72}1`. */
function bracedFractions(text: string): string {
  const [head, ...tails] = following(text, "\\frac");
  let done = head;
  for (const tail of tails) {
    if (tail === "") throw outOfText("\\frac");
    if (tail.startsWith("{")) {
      done += `\\frac${tail}`;
      continue;
    }
    const a = firstOf(tail);
    const b = firstOf(tail.slice(a.length));
    if (b === "") return text;
    const rest = tail.slice(a.length + b.length);
    done += b === "{" ? `\\frac{${a}}{${rest}` : `\\frac{${a}}{${b}}${rest}`;
  }
  return done;
}

/** `3/4` -> `\frac{3}{4}`, for two integers written canonically. */
function slashAsFraction(text: string): string {
  const match = /^(0|-?[1-9][0-9]*)\/(0|-?[1-9][0-9]*)$/.exec(text);
  return match ? `\\frac{${match[1]}}{${match[2]}}` : text;
}

/**
 * A mathematical answer in the form that `mathEquivalent` compares. Purely textual: 2.0 is not 2.
 * Throws where the reference's normalisation fails.
 */
export function normalizeMath(answer: string): string {
  let text = answer
    .replaceAll("\n", "")
    .replaceAll("\\!", "")
    .replaceAll("\\\\", "\\")
    .replaceAll("tfrac", "frac")
    .replaceAll("dfrac", "frac")
    .replaceAll("\\left", "")
    .replaceAll("\\right", "")
    .replaceAll("^{\\circ}", "")
    .replaceAll("^\\circ", "")
    .replaceAll("\\$", "");
  const [value, ...units] = text.split("\\text{ ") as [string, ...string[]];
  if (units.length > 1) {
    throw new SyntaxError(
      `Cannot normalise: at most one unit may follow, got ${units.length} in ${answer}`,
    );
  }
  text = value.replaceAll("\\%", "").replaceAll(" .", " 0.").replaceAll("{.", "{0.");
  if (text === "") return text;
  if (text.startsWith(".")) text = `0${text}`;
  const sides = text.split("=");
  if (sides.length === 2 && [...sides[0]!].length <= 2) text = sides[1]!;
  text = bracedFractions(bracedRoots(text).replaceAll(" ", ""));
  if (text === "0.5") text = "\\frac{1}{2}";
  return slashAsFraction(text);
}

/**
 * Whether two answers are the same after normalisation; when either cannot be normalised, whether they
 * are the same as they stand. Two missing answers are the same.
 *
 * @param a one answer
 * @param b the other answer
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { mathEquivalent } from "arpo-lab/learn";
 *
 * assert.ok(mathEquivalent("1/2", "\\frac12"));
 * assert.ok(!mathEquivalent("0.50", "1/2"));
 * ```
 */
export function mathEquivalent(a: string | null, b: string | null): boolean {
  if (a === null || b === null) return a === b;
  try {
    return normalizeMath(a) === normalizeMath(b);
  } catch {
    // Not swallowed: falling back to the raw texts is the rule.
    return a === b;
  }
}
