/** Rollouts that other programs wrote. Experimental: may change in any release. */

export type { Carried } from "../../import/carried.js";
export type { BrokenLine, ReadFile } from "../../import/collect.js";
export { fillIn, type FillOptions } from "../../import/fill-in.js";
export type { Quantity } from "../../import/formats/format.js";
export {
  importRollouts,
  type ImportOptions,
  type ImportProgress,
} from "../../import/import-rollouts.js";
export {
  ImportedRollouts,
  type ImportedParts,
  type ImportedPrompt,
} from "../../import/imported-rollouts.js";
export { readRollouts, type ReadOptions } from "../../import/read-rollouts.js";
export type { ImportedPart, ImportedRow, PlacedRow } from "../../import/row/imported-row.js";
export type { StepLine } from "../../import/step-lines.js";
export { saveTraces, type TraceOptions } from "../../import/write/save-traces.js";
export type { ImportedTask } from "../../import/trees/tree-of-rows.js";
export {
  showImported,
  ImportedView,
  type ImportedViewOptions,
} from "../../view/imported/imported-view.js";
