// What the kernel tells a front end about a text that is being written, over a comm whose target is
// `diagnoseTarget`. A front end that opens no such comm is told nothing; nothing is run.
import type { NotebookCell } from "./stale.js";

/** A position is an offset in UTF-16 code units from the start of the cell's text. */
export interface CellDiagnostic {
  severity: "error" | "warning";
  /** TypeScript's number, or 0 for the kernel's own (stage cells, magics). */
  code: number;
  message: string;
  /** All that the compiler said, where `message` leaves something out. */
  full?: string;
  start: number;
  length: number;
  /** 1-based, in the cell's text. */
  line: number;
  column: number;
}

/** The target of the comm. */
export const diagnoseTarget = "arpo-lab.diagnose";

/** A front end's question about one cell. */
export interface DiagnoseQuestion {
  /** All code cells: what a cell that has not run yet declares is no error where it is read. */
  cells: NotebookCell[];
  /** The cell that is asked about. */
  of: string;
}

/** The kernel's answer: places are offsets in the cell's text. */
export interface DiagnoseAnswer {
  diagnostics: CellDiagnostic[];
}
