import type { ErrorReport } from "../contract/bridge.js";
import { excerpt } from "../host/excerpt.js";
import type { MimeBundle } from "../host/host.js";
import type { CellDiagnostic } from "../contract/compiler.js";

const name = ({ code }: CellDiagnostic): string => (code === 0 ? "CellError" : `TS${code}`);

/** What the compiler found, as an error with the lines it is about. */
export function diagnosticsReport(
  diagnostics: CellDiagnostic[],
  source: string,
  count: number,
): ErrorReport {
  const lines = source.split("\n");
  const errors = diagnostics.filter((d) => d.severity === "error");
  const first = errors[0] ?? diagnostics[0]!;
  const traceback: string[] = [];
  for (const diagnostic of diagnostics) {
    const { line, column, message, severity } = diagnostic;
    const colour = severity === "error" ? 31 : 33;
    traceback.push(
      `\u001b[${colour}m${name(diagnostic)}: ${message}\u001b[39m`,
      `    at cell ${count}, line ${line}:${column}`,
      ...excerpt(lines, line, column),
    );
  }
  const ename =
    first.code === 0 || (first.code >= 1000 && first.code < 2000) ? "SyntaxError" : "TypeError";
  return {
    ename,
    evalue: `${name(first)}: ${first.message} (line ${first.line}:${first.column})`,
    traceback,
  };
}

const escapes: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };
const escaped = (text: string): string => text.replace(/[&<>]/g, (found) => escapes[found]!);

/** What an error's short message leaves out; undefined where that is nothing. */
export function fullReport(diagnostics: CellDiagnostic[]): MimeBundle | undefined {
  const full = diagnostics.flatMap((each) =>
    each.full === undefined || each.full === each.message ? [] : `${name(each)}: ${each.full}`,
  );
  if (full.length === 0) return undefined;
  return {
    "text/html": `<details><summary>All that the compiler says</summary><pre>${escaped(full.join("\n"))}</pre></details>`,
    "text/plain": "Write %%check full on the cell's first line to read all that the compiler says.",
  };
}
