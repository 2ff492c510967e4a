import type { Completeness } from "../../contract/compiler.js";
import type { api, TypeScript } from "./typescript.js";

/** Whether a front end's Enter should run a text or begin another line of it. */
export function isComplete(ts: TypeScript, source: string): Completeness {
  const file = ts.createSourceFile("cell.ts", source, ts.ScriptTarget.ES2022, false);
  const { parseDiagnostics } = file as unknown as { parseDiagnostics: api.Diagnostic[] };
  if (parseDiagnostics.length === 0) return { status: "complete" };
  const end = source.trimEnd().length;
  const atEnd = parseDiagnostics.every(({ start = 0 }) => start >= end);
  if (!atEnd || /\n[ \t]*\n[ \t]*$/.test(source)) return { status: "invalid" };
  const unfinished = parseDiagnostics.some(({ code }) => !unterminatedOnLine.has(code));
  return unfinished ? { status: "incomplete", indent: indentAfter(source) } : { status: "invalid" };
}

/** A string or a regular expression cannot go on in the next line. */
const unterminatedOnLine: ReadonlySet<number> = new Set([1002, 1161]);

/** The last line's indentation, one step deeper after an opening bracket. */
function indentAfter(source: string): string {
  const line = source.trimEnd().split("\n").at(-1) ?? "";
  const current = /^[ \t]*/.exec(line)?.[0] ?? "";
  return /[{([]$/.test(line.split("//", 1)[0]!.trimEnd()) ? `${current}  ` : current;
}
