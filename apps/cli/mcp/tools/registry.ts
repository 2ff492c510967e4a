import type { ToolDefinition } from "../definition.js";
import { compareRuns } from "./compare-runs.js";
import { explainScore } from "./explain-score.js";
import { fork } from "./fork.js";
import { interrupt } from "./interrupt.js";
import { listNotebooks } from "./list-notebooks.js";
import { listTrees } from "./list-trees.js";
import { readCells } from "./read-cells.js";
import { runCell } from "./run-cell.js";
import { searchDocs } from "./search-docs.js";
import { summarizeTree } from "./summarize-tree.js";

/** The tools of `arpo-lab mcp`: what reads first, then what acts. */
export const tools: readonly ToolDefinition[] = [
  listNotebooks,
  readCells,
  listTrees,
  summarizeTree,
  explainScore,
  compareRuns,
  searchDocs,
  runCell,
  fork,
  interrupt,
];
