/** Views of trees, credit, updates and runs; tables; files of pictures and pages. */
import { registerShows } from "../view/register-shows.js";

// From here on values show themselves in these views.
registerShows();

// Views that answer the mouse
export { explore } from "../view/explorer/explore.js";
export type { ExploreOptions } from "../view/explorer/make-payload.js";
export { theLoop } from "../view/loop/the-loop.js";
export type { LoopOptions } from "../view/loop/record-loop.js";
export { board } from "../view/board/board.js";
export type { BoardOptions } from "../view/board/payload.js";
export { explain } from "../view/explain/explain.js";
export type { ExplainOptions } from "../view/explain/make-payload.js";
export { branchingView } from "../view/branching/branching-view.js";
export { creditView } from "../view/credit/credit-view.js";
export { clipTuner, type ClipTunerOptions } from "../view/tokens/tuner/clip-tuner.js";
export { teacherView } from "../view/tokens/teacher-view.js";
export { tokenView } from "../view/tokens/token-view.js";
export { forks } from "../view/explorer/live-trees.js";

// Figures
export { entropyRibbon, type EntropyRibbonOptions } from "../view/ribbon/entropy-ribbon.js";
export type { Figure, FigureOptions } from "../view/figures/figure.js";
export { entropyProfile, type EntropyProfileOptions } from "../view/figures/entropy-profile.js";
export { branchTimeline, entropyTree, tokenEntropy, toolUse } from "../view/figures/trees.js";
export { advantageHeat, clipScatter } from "../view/figures/updates.js";
export { clipComparison } from "../view/tokens/clip-comparison.js";
export { compareRuns, passAtKCurve, rewardCurves } from "../view/figures/curves.js";

// Files
export { describe } from "../view/figures/figure.js";
export { toHtml } from "../view/export/to-html.js";
export type { HtmlView } from "../view/export/shown.js";
export { toPdf, type PdfOptions } from "../view/export/to-pdf.js";
export { toPng, type PngOptions } from "../view/export/to-png.js";
export { toSvg } from "../view/export/to-svg.js";
export { saveFigure } from "../view/export/save-figure.js";
export { reportPage, type ReportOptions } from "../view/evaluation/report-page.js";

// Tables
export { toFrame } from "../interop/frame/to-frame.js";
export { toRows, type RowsOptions, type FrameRow } from "../interop/frame/to-rows.js";
export { DataFrame, Series, concat, merge } from "../interop/frame/danfo.js";
export {
  readCSV,
  type ReadCsvOptions,
  toCSV,
  type WriteCsvOptions,
} from "../interop/frame/files.js";
