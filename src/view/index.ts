import { evaluationDisplay } from "../eval/report/evaluation.js";
import { learnDisplay } from "../learn/learn-display.js";
import { scoredDisplay } from "../reward/scored-display.js";
import { treeDisplay } from "../rollout/tree-display.js";
import { runDisplay } from "../run/trainer/run-display.js";
import { showRunBoard, watchRun } from "./board/live.js";
import { explore } from "./explorer/explore.js";
import { reportHtml } from "./evaluation/report-page.js";
import { showScoredRows } from "./scored/show-scored-rows.js";
import { showBatchTokens, showReportTokens } from "./tokens/show-learning.js";

// From here on values show themselves in these views.
treeDisplay.show = (tree) => explore(tree).bundle();
evaluationDisplay.show = (evaluation) => ({
  "text/html": reportHtml(evaluation, { tokenBytes: 1_500_000 }),
  "text/plain": String(evaluation),
});
scoredDisplay.show = showScoredRows;
learnDisplay.batch = showBatchTokens;
learnDisplay.report = showReportTokens;
runDisplay.show = showRunBoard;
runDisplay.watch = watchRun;

export { explore, Explorer } from "./explorer/explore.js";
export type { ExploreOptions } from "./explorer/make-payload.js";
export { board, Board } from "./board/board.js";
export type { BoardOptions } from "./board/make-payload.js";
export type { BoardPayload } from "./board/payload.js";
export type { BoardRun, BoardRuns } from "./board/read-runs.js";
export { explain, Explanation } from "./explain/explain.js";
export type { AlgorithmName } from "./explain/algorithms.js";
export type { ExplainOptions } from "./explain/make-payload.js";
export type { TokenTerms } from "./explain/page/token-terms.js";
export { questionTree } from "./evaluation/question-tree.js";
export { reportPage, type ReportOptions } from "./evaluation/report-page.js";
export { saveFigure } from "./export/save-figure.js";
export { toHtml, type HtmlView } from "./export/to-html.js";
export { toPng, type PngOptions } from "./export/to-png.js";
export { toSvg } from "./export/to-svg.js";
export { forks } from "./explorer/live-trees.js";
export { palettes, type Palette, type Theme } from "./palette.js";
export { advantageHeat } from "./figures/advantage-heat.js";
export { branchTimeline } from "./figures/branch-timeline.js";
export { clipScatter } from "./figures/clip-scatter.js";
export { compareRuns } from "./figures/compare-runs.js";
export { describe } from "./figures/describe.js";
export { entropyTree } from "./figures/entropy-tree.js";
export type { Figure, FigureOptions } from "./figures/figure.js";
export type { MetricLine, RunMetrics } from "./figures/metric-lines.js";
export { passAtK } from "./figures/pass-at-k.js";
export { rewardCurves } from "./figures/reward-curves.js";
export { toFrame, type Frame } from "./frame/to-frame.js";
export { toRows, type FrameRow, type RowsOptions } from "./frame/to-rows.js";
export { tokenEntropy } from "./figures/token-entropy.js";
export { toolUse } from "./figures/tool-use.js";
export { clipComparison } from "./tokens/clip-comparison.js";
export { TokenView, tokenView, type TokenViewOptions } from "./tokens/token-view.js";
