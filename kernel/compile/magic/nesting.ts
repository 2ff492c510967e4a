import type { CellDiagnostic } from "../../contract/compiler.js";
import { problem } from "./head.js";
import type { TypeScript } from "../check/typescript.js";

/** Brackets within brackets: the time to check them grows with the cube of their number. */
const DEEPEST = 500;

/** What is nested so deep that it would be checked for minutes, or end the compiler's stack. */
export function nestingError(ts: TypeScript, text: string): CellDiagnostic | undefined {
  if (text.length < DEEPEST || (text.match(/[([{]/g)?.length ?? 0) <= DEEPEST) return undefined;
  const scanner = ts.createScanner(ts.ScriptTarget.ESNext, true, ts.LanguageVariant.Standard, text);
  const { SyntaxKind } = ts;
  const opens = [SyntaxKind.OpenParenToken, SyntaxKind.OpenBracketToken, SyntaxKind.OpenBraceToken];
  const closes = [
    SyntaxKind.CloseParenToken,
    SyntaxKind.CloseBracketToken,
    SyntaxKind.CloseBraceToken,
  ];
  let depth = 0;
  for (let token = scanner.scan(); token !== SyntaxKind.EndOfFileToken; token = scanner.scan()) {
    if (closes.includes(token as never)) depth--;
    else if (opens.includes(token as never) && ++depth > DEEPEST) {
      const rule = `brackets may be nested ${DEEPEST} deep`;
      return problem(text, scanner.getTokenStart(), 1, `Cannot compile this cell: ${rule}`);
    }
  }
  return undefined;
}
