// Formulas of the losses in MathML, for the explainer.

/** A number. */
export const mn = (x: string | number): string => `<mn>${x}</mn>`;
/** An identifier. */
export const mi = (name: string): string => `<mi>${name}</mi>`;
/** An operator. */
export const mo = (sign: string): string => `<mo>${sign}</mo>`;
/** Pieces side by side. */
export const row = (...pieces: string[]): string => `<mrow>${pieces.join("")}</mrow>`;
/** One over the other. */
export const frac = (over: string, under: string): string =>
  `<mfrac>${row(over)}${row(under)}</mfrac>`;
/** A function of some arguments. */
export const call = (name: string, ...given: string[]): string =>
  row(mi(name), mo("("), given.join(mo(",")), mo(")"));
/** Something with an index. */
export const sub = (base: string, index: string): string => `<msub>${base}${row(index)}</msub>`;

/** A symbol whose value the page writes under it. */
export function symbol(name: string, glyph: string): string {
  return `<munder data-symbol="${name}">${row(glyph)}<mtext data-value="${name}">–</mtext></munder>`;
}

/** One of two things, by a condition. */
export function cases(one: string, when: string, other: string): string {
  const line = (value: string, condition: string) =>
    `<mtr><mtd>${row(value)}</mtd><mtd>${row(condition)}</mtd></mtr>`;
  const table = line(one, when) + line(other, "<mtext>else</mtext>");
  return row(mo("{"), `<mtable columnalign="left">${table}</mtable>`);
}

/** A line of mathematics. */
export function math(...pieces: string[]): string {
  return `<math display="block">${pieces.join("")}</math>`;
}

export const minus = mo("−");
export const plus = mo("+");
export const equals = mo("=");
export const times = mo("·");
const t = mi("t");

/** ln of the probability under a policy, without a value under it. */
export const log = (of: string): string =>
  row(mi("ln"), `<mspace width="0.17em"/>`, sub(mi("π"), mi(of)));
/** A mean over something named below it. */
export const meanOver = (what: string, ...of: string[]): string =>
  row(`<munder><mtext>mean</mtext><mtext>${what}</mtext></munder>`, mo("("), ...of, mo(")"));

export const logprob = symbol("logprob", log("θ"));
export const oldLogprob = symbol("oldLogprob", log("old"));
export const logRatio = symbol("logRatio", row(mi("ln"), sub(mi("r"), t)));
export const ratio = symbol("ratio", sub(mi("r"), t));
export const bounded = symbol("bounded", sub("<mover><mi>r</mi><mo>¯</mo></mover>", t));
export const given = symbol("advantage", sub(mi("A"), t));
/** The advantage as a loss uses it, where that is another number. */
export const used = symbol("used", "<msubsup><mi>A</mi><mi>t</mi><mo>′</mo></msubsup>");
export const low = symbol("low", row(mn(1), minus, sub(mi("ε"), mi("low"))));
export const high = symbol("high", row(mn(1), plus, sub(mi("ε"), mi("high"))));
/** The same where not a ratio is bounded: how far something may go down and up. */
export const down = symbol("low", row(minus, sub(mi("ε"), mi("low"))));
export const up = symbol("high", sub(mi("ε"), mi("high")));
export const cap = symbol("c", mi("c"));
export const loss = symbol("loss", sub(mi("ℓ"), t));
export const chosen = symbol("chosen", sub(mn("1"), mi("chosen")));
export const stopped = (of: string): string => call("sg", of);

/** One line of an objective: a formula in MathML whose values the page fills in. */
export interface FormulaLine {
  title: string;
  mathml: string;
  /** The library's lines that compute it: `function.variable`, as tools/source-lines.mjs names them. */
  code: readonly string[];
  /** Shown only for tokens with such an advantage. */
  when?: "positive" | "negative";
}

export const line = (title: string, mathml: string, ...code: string[]): FormulaLine => ({
  ...{ title, mathml, code },
});

/** What a token costs. */
export const tokenLoss = (formula: string, ...code: string[]): FormulaLine =>
  line("Loss of the token", math(loss, equals, formula), ...code);

/** A line that is another where the advantage is negative. */
export const bySign = (
  title: string,
  code: string,
  positive: string,
  negative: string,
): FormulaLine[] => [
  { ...line(title, positive, code), when: "positive" },
  { ...line(title, negative, code), when: "negative" },
];

/** How much more likely the token has become. */
export const tokenRatio = (...code: string[]): FormulaLine =>
  line(
    "Ratio: how much more likely the token has become",
    math(ratio, equals, call("exp", row(logprob, minus, oldLogprob))),
    ...code,
  );

/** One ratio for a sequence or a turn: the geometric mean of its tokens'. */
export function meanRatio(what: "row" | "turn", ...code: string[]): FormulaLine {
  const name = what === "row" ? "rowLogRatio" : "turnLogRatio";
  const average = symbol(name, meanOver(what, log("θ"), minus, log("old")));
  return line(
    `Ratio: one for the whole ${what}, the geometric mean of its tokens'`,
    math(ratio, equals, call("exp", average)),
    ...code,
  );
}

/** A ratio kept between its bounds. */
export const clipLine = (...code: string[]): FormulaLine =>
  line(
    "Clipping: how far one step may move the probability",
    math(bounded, equals, call("clip", ratio, low, high)),
    ...code,
  );

/** The larger of the two candidates. */
export const candidates = (a: string): string =>
  call("max", row(minus, ratio, times, a), row(minus, bounded, times, a));

/** PPO's loss of a token, and the same where the dual clip bounds it. */
export function dualLines(a: string, code: readonly string[], dualCode: string): FormulaLine[] {
  const dual = row(
    ...[mi("min"), mo("("), minus, cap, times, a, mo(",")],
    ...[candidates(a), mo(")")],
  );
  const title = "Loss of the token: with a negative advantage the dual clip bounds it";
  return [
    { ...tokenLoss(candidates(a), ...code), when: "positive" },
    { ...line(title, math(loss, equals, dual), ...code, dualCode), when: "negative" },
  ];
}

const covariance = symbol("covariance", sub(mi("cov"), mi("t")));

/** How a token's advantage and log-probability vary together. */
export const covarianceLine = (...code: string[]): FormulaLine =>
  line(
    "Covariance: do advantage and probability go together, more than on other tokens?",
    math(
      ...[covariance, equals, mo("("), given, minus, meanOver("batch", mi("A")), mo(")"), times],
      ...[mo("("), logprob, minus, meanOver("batch", log("θ")), mo(")")],
    ),
    ...code,
  );
