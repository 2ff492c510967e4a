import { treeDisplay } from "../rollout/tree-display.js";
import { explore } from "./explorer/explore.js";

// From here on trees show themselves in the explorer.
treeDisplay.show = (tree) => explore(tree).bundle();

export { explore, Explorer } from "./explorer/explore.js";
export type { ExploreOptions } from "./explorer/make-payload.js";
export { explain, Explanation } from "./explain/explain.js";
export type { AlgorithmName } from "./explain/algorithms.js";
export type { ExplainOptions } from "./explain/make-payload.js";
export type { TokenTerms } from "./explain/page/token-terms.js";
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
export { tokenEntropy } from "./figures/token-entropy.js";
export { toolUse } from "./figures/tool-use.js";
export { clipComparison } from "./tokens/clip-comparison.js";
export { TokenView, tokenView, type TokenViewOptions } from "./tokens/token-view.js";
