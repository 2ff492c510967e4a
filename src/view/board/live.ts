import type { FineTuning } from "../../learn/sft/fine-tune.js";
import type { TrainingRun } from "../../run/trainer/training-run.js";
import type { LiveShow, Shown } from "../../base/show/show-as.js";
import { viewHost } from "../kernel.js";
import { Board } from "./board.js";
import { LiveStatus } from "../status/live-status.js";

/** Drawing may take this share of the time. */
const share = 0.02;
const leastPause = 500;

/** Runs whose steps stand on a board. */
type CellRun = TrainingRun | FineTuning;

const boards = new WeakMap<CellRun, { board: Board; cell: string | undefined }>();

/** Shows a run on its board while it continues, in place, without slowing it down by much. */
export function watchRun(run: CellRun): LiveShow | undefined {
  const host = viewHost();
  const cell = host?.cell();
  if (!host || !cell) return undefined;
  const board = new Board(run);
  boards.set(run, { board, cell: cell.id });
  const live = new LiveStatus("this step");
  let shown = false;
  let next = 0;
  const show = (bundle: Record<string, string>) => {
    host.display(bundle, { id: board.id, update: shown });
    shown = true;
  };
  const glance = () => {
    const began = performance.now();
    if (began < next) return;
    show(board.glance(live.status));
    const took = performance.now() - began;
    next = performance.now() + Math.max(leastPause, took / share);
  };
  return {
    get stopping() {
      return live.stopping;
    },
    tell: (line) => {
      // A page that listens needs no other board; before the first there is none.
      if (!live.tell(line) || !shown) glance();
    },
    step: glance,
    done: () => {
      live.end();
      if (shown || run.steps.length > 0) show(board.now());
    },
  };
}

/** A run on its board; nothing where the cell that trained it has just shown it. */
export function showRunBoard(run: CellRun): Shown {
  const known = boards.get(run);
  if (known?.cell !== undefined && known.cell === viewHost()?.cell()?.id) return {};
  return (known?.board ?? new Board(run)).now();
}
