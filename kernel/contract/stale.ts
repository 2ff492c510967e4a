// What the kernel tells a front end about stale cells, over a comm whose target is `staleTarget`. A front
// end that opens no such comm is told nothing.

/** The target of the comm. */
export const staleTarget = "arpo-lab.stale";

/** A code cell as it stands in the notebook now. */
export interface NotebookCell {
  id: string;
  source: string;
}

/** A front end's question: all code cells, in the order of the notebook. */
export interface StaleQuestion {
  cells: NotebookCell[];
  /** With a cell: what depends on it is in the answer's `plan`. Else the plan has all stale cells. */
  of?: string;
}

/** Why a cell is stale: one name that it read. */
export interface StaleReason {
  name: string;
  /**
   * `newer`: the name was declared or assigned again since. `edited`, `stale`: the cell that declared or
   * assigned it is that. `gone`: that cell is deleted, or it ran again without the name.
   */
  why: "newer" | "edited" | "stale" | "gone";
}

/** A cell that ran and whose output may be of another program than the notebook's. */
export interface CellState {
  /** Its text differs from what ran. */
  edited: boolean;
  /** Not empty: it is stale. */
  stale: StaleReason[];
}

/** The kernel's answer. */
export interface StaleAnswer {
  /** Cells that are edited or stale; the others are neither, or never ran. */
  cells: Record<string, CellState>;
  /** What to run, in this order: who declares before who reads, else as in the notebook. */
  plan: string[];
  /** Cells of the plan that depend on each other in a circle. */
  loops: string[][];
  /** Cells of the plan that take long: ask before they run by themselves. */
  long: string[];
}
