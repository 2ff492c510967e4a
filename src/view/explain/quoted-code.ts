import { sourceLines } from "#pages/source-lines";
import type { FormulaLine } from "../../learn/loss/formula.js";
import type { CodeLine, ExplainedLine } from "./payload.js";

function codeOf(name: string): CodeLine {
  const found = sourceLines[name];
  if (found) return found;
  throw new Error(`Cannot quote the library: a line must be in its sources, got ${name}`);
}

/** A formula beside the lines of the library that compute it. */
export const quoted = ({ code, ...line }: FormulaLine): ExplainedLine => ({
  ...line,
  code: code.map(codeOf),
});
