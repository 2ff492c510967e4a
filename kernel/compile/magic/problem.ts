import type { CellDiagnostic } from "../../contract/compiler.js";

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
