import type { ExplorerPayload, LiveTree } from "../explorer/payload.js";
import type { WorkStatus } from "../status/payload.js";

/** One line of a panel. */
export interface BoardCurve {
  /** Place in the board's runs. */
  run: number;
  /** What it measures, where a panel shows several things. */
  label: string;
  x: number[];
  y: number[];
  /** 95% confidence interval of the mean over seeds, where several have come to the step. */
  low?: (number | null)[];
  high?: (number | null)[];
}

/** One picture of the board. */
export interface BoardPanel {
  title: string;
  /** What it means, in a sentence. */
  help: string;
  /** Areas one above the other; only where all curves belong to one run. */
  stacked: boolean;
  labels: string[];
  curves: BoardCurve[];
}

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
  panels: BoardPanel[];
  rollouts: BoardRollout[];
}

/** A tree of the board, by the name of its data. */
export type BoardTrees = Record<string, ExplorerPayload>;
