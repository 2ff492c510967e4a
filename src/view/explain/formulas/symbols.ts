import { call, cases, frac, math, mi, mn, mo, row, sub, symbol } from "../mathml.js";

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
export { call, cases, frac, math, mi, mn, mo, row, sub, symbol };
