import { codeOf } from "../code-lines.js";
import type { FormulaLine } from "../payload.js";
import { equals, loss, math } from "./symbols.js";

/** A line of an objective. */
export const line = (title: string, mathml: string, code: FormulaLine["code"]): FormulaLine => ({
  ...{ title, mathml, code },
});
/** What a token costs. */
export const tokenLoss = (formula: string, ...names: Parameters<typeof codeOf>): FormulaLine =>
  line("Loss of the token", math(loss, equals, formula), codeOf(...names));

/** A line that is another where the advantage is negative. */
export const bySign = (
  title: string,
  code: FormulaLine["code"],
  positive: string,
  negative: string,
): FormulaLine[] => [
  { title, code, mathml: positive, when: "positive" },
  { title, code, mathml: negative, when: "negative" },
];
