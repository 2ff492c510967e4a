import type { CellFailure } from "../../kernel/notebook/execute.js";
import { joinLines } from "../../kernel/notebook/notebook.js";
import { printable } from "../../src/text/printable.js";

const ansi = /\x1b\[[0-9;]*[A-Za-z]/g;

/** What a terminal may be given: colours as they are, all else that would move it shown. */
const coloured = (text: string): string =>
  text
    .split(/(\x1b\[[0-9;]*m)/)
    .map((part, i) => (i % 2 === 1 ? part : printable(part)))
    .join("");

/** Where in the failed cell it happened, if its traceback says so. */
function placeOf(
  traceback: string,
  count: number | null | undefined,
): { line: number; column: number } | undefined {
  const places = traceback.matchAll(/\bcell (?:In\[)?(\d+)\]?, line (\d+)(?::(\d+))?/gi);
  for (const [, cell, line, column] of places) {
    if (Number(cell) === count) return { line: Number(line), column: Number(column ?? 1) };
  }
  return undefined;
}

/** The error of a cell for the terminal: which cell, which line, and the traceback. */
export function failureText(failure: CellFailure, path: string, color: boolean): string {
  const { cell, index, error } = failure;
  const traceback = error.traceback.join("\n");
  const plain = traceback.replace(ansi, "");
  const place = placeOf(plain, cell.execution_count);
  const where = `${path}: cell ${index + 1}${place === undefined ? "" : `, line ${place.line}, column ${place.column}`}`;
  const what = `${error.ename}: ${error.evalue}`;
  const head = `${where}: ${what}`;
  const line = place === undefined ? undefined : joinLines(cell.source).split("\n")[place.line - 1];
  const shown = color ? coloured(traceback) : printable(plain);
  const excerpt = line === undefined || plain.includes(line.trim()) ? [] : [`    ${line.trim()}`];
  // Most tracebacks begin with what the head says.
  const [first = "", ...rest] = plain.split("\n");
  const isSaid =
    first !== "" && rest.length > 0 && [what, error.evalue].some((said) => said.startsWith(first));
  const lines = shown.split("\n").slice(isSaid ? 1 : 0);
  return [printable(head), ...excerpt, ...lines.map((l) => `  ${l}`)].join("\n");
}
