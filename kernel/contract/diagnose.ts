// What the kernel tells a front end about a text that is being written, over a comm whose target is
// `diagnoseTarget`. A front end that opens no such comm is told nothing; nothing is run.
import type { CellDiagnostic } from "./compiler.js";
import type { NotebookCell } from "./stale.js";

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
