import type { BoardPayload } from "../payload.js";
import type { PanelView } from "../../draw/draw-panel.js";

/** What the reader chose; it outlives the board being shown anew while a run continues. */
interface BoardChoices {
  smoothing: number;
  hidden: number[];
  /** Undefined while the newest step is followed. */
  step?: number | undefined;
  open?: string | undefined;
  /** Whether the further curves are shown. */
  isOpen?: boolean | undefined;
}

/** What was chosen on the boards of this id. */
export function choicesOf(id: string): BoardChoices {
  const memory = globalThis as { arpoBoards?: Record<string, BoardChoices> };
  memory.arpoBoards ??= {};
  return (memory.arpoBoards[id] ??= { smoothing: 0, hidden: [] });
}

/** A board as it is shown: what it holds, what the reader chose, and the page's colours. */
export class ShownBoard {
  /** Steps whose rollouts can be opened. */
  readonly steps: readonly number[];
  /** The step whose figures are told. */
  cursor: number;

  constructor(
    readonly payload: BoardPayload,
    readonly choices: BoardChoices,
    readonly series: readonly string[],
    readonly ink: string,
  ) {
    this.steps = [...new Set(payload.rollouts.map(({ step }) => step))];
    const open = payload.rollouts.find(({ data }) => data === choices.open);
    this.cursor = choices.step ?? (open ?? payload.rollouts.at(-1))?.step ?? payload.to;
  }

  get oneRun(): boolean {
    return this.payload.runs.length === 1;
  }

  /** The step that is looked at while the pointer is elsewhere. */
  get rest(): number {
    return this.choices.step ?? this.steps.at(-1) ?? this.payload.to;
  }

  /** How a panel of this size is drawn. */
  viewOf(width: number, height: number): PanelView {
    const { payload, choices, series, ink, oneRun, cursor } = this;
    return {
      ...{ width, height, from: payload.from, to: payload.to, colours: series, ink },
      ...{ oneRun, cursor, smoothing: choices.smoothing, hidden: choices.hidden },
    };
  }
}
