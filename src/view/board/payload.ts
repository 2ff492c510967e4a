import type { CurvePanel } from "../draw/draw-panel.js";
import type { ExplorerPayload, LiveTree } from "../explorer/payload.js";
import type { WorkStatus } from "../status/payload.js";

/** A step whose rollouts can be opened. */
export interface BoardRollout {
  run: number;
  seed: number;
  step: number;
  label: string;
  /** Name of the data that holds the tree. */
  data: string;
  /** Where a kernel can continue with the tree. */
  live?: LiveTree;
}

/** What a board's page is given, besides the trees. */
export interface BoardPayload {
  title: string;
  runs: { name: string; seeds: number; steps: number }[];
  /** First and last step of all runs. */
  from: number;
  to: number;
  /** How many steps there will be, while a run continues. */
  total?: number;
  /** The step it was stopped after. */
  stopped?: number;
  /** While it goes on. */
  status?: WorkStatus;
  panels: CurvePanel[];
  rollouts: BoardRollout[];
}

/** A tree of the board, by the name of its data. */
export type BoardTrees = Record<string, ExplorerPayload>;
