/** What the reader chose; it outlives the board being shown anew while a run continues. */
export interface BoardChoices {
  smoothing: number;
  hidden: number[];
  /** Undefined while the newest step is followed. */
  step?: number | undefined;
  open?: string | undefined;
}

/** What was chosen on the boards of this id. */
export function choicesOf(id: string): BoardChoices {
  const memory = globalThis as { arpoBoards?: Record<string, BoardChoices> };
  memory.arpoBoards ??= {};
  return (memory.arpoBoards[id] ??= { smoothing: 0, hidden: [] });
}
