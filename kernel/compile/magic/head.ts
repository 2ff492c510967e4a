import type { CellDiagnostic } from "../../contract/compiler.js";

/** One `%%name options` line at the top of a cell. */
export interface MagicLine {
  name: string;
  /** Of the first `%`. */
  start: number;
  nameEnd: number;
  /** The end of the line, without its line break. */
  end: number;
}

/** The magic lines of a cell and where what follows them begins. */
export function readHead(source: string): { lines: MagicLine[]; bodyStart: number } {
  const lines: MagicLine[] = [];
  let at = /^(?:[ \t]*\r?\n)*/.exec(source)?.[0].length ?? 0;
  for (;;) {
    const found = /^%%([\w-]*)(?![\w-])([^\r\n]*)(?:\r?\n|$)/.exec(source.slice(at));
    if (found === null) return { lines, bodyStart: at };
    const [all, name = "", rest = ""] = found;
    const nameEnd = at + 2 + name.length;
    lines.push({ name, start: at, nameEnd, end: nameEnd + rest.length });
    at += all.length;
    if (at >= source.length) return { lines, bodyStart: at };
  }
}

/** An error of the kernel's own, at [start, start + length) of a cell. */
export function problem(
  source: string,
  start: number,
  length: number,
  message: string,
): CellDiagnostic {
  return { severity: "error", code: 0, message, start, length, ...lineAndColumn(source, start) };
}

/** 1-based line and column of a position. */
export function lineAndColumn(source: string, position: number): { line: number; column: number } {
  const before = source.slice(0, position).split("\n");
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}
