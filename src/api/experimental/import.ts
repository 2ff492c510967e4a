/** Rollouts that other programs wrote. Experimental: may change in any release. */

export type { Carried } from "../../formats/carried.js";
export type { BrokenLine, ReadFile } from "../../formats/collect.js";
export { fillIn, type FillOptions } from "../../formats/fill-in.js";
export type { FormatNotes, Quantity, RolloutFormat } from "../../formats/formats/format.js";
export { rolloutFormats } from "../../formats/formats/registry.js";
export {
  importRollouts,
  type ImportOptions,
  type ImportProgress,
} from "../../formats/import-rollouts.js";
export {
  ImportedRollouts,
  type ImportedParts,
  type ImportedPrompt,
} from "../../formats/imported-rollouts.js";
export { readRollouts, type ReadOptions } from "../../formats/read-rollouts.js";
export type { ImportedPart, ImportedRow, PlacedRow } from "../../formats/row/imported-row.js";
export type { StepLine } from "../../formats/step-lines.js";
export { saveAtif } from "../../formats/write/save-atif.js";
export { saveSpans } from "../../formats/write/save-spans.js";
export { saveTraces, type TraceOptions } from "../../formats/write/save-traces.js";
export type { KnownOptions } from "../../formats/write/stretches.js";
export type { ImportedTask } from "../../formats/trees/tree-of-rows.js";
export {
  showImported,
  ImportedView,
  type ImportedViewOptions,
} from "../../view/imported/imported-view.js";
