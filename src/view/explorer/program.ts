import { decideBranch } from "../../rollout/branch-rule.js";
import { ConsecutivePenalty } from "../../rollout/consecutive-penalty.js";
import { followPlan } from "../../rollout/follow-plan.js";
import { askKernel, makeActions } from "./page/actions.js";
import { colouringOf, colourRamp } from "./page/colours.js";
import { makeControls, replayWords } from "./page/controls.js";
import { drawRuler } from "./page/draw-ruler.js";
import { drawTree } from "./page/draw.js";
import { element } from "./page/element.js";
import { heatText, tokenDetails, tokenText } from "./page/heat-text.js";
import { attemptTable, nodeDetails, rowTokens } from "./page/node-details.js";
import { pathOf, sharedTokens, spansOf, tokensOf } from "./page/paths.js";
import { startExplorer } from "./page/start.js";
import { unpackNumbers } from "./page/unpack-numbers.js";
import { unpackTree } from "./page/unpack.js";

/**
 * The functions of the explorer's page. Each uses nothing but the others: their sources together are a
 * program of their own. The branching arithmetic is the rollouts' own code.
 */
export const explorerParts: readonly unknown[] = [
  decideBranch,
  ConsecutivePenalty,
  followPlan,
  unpackNumbers,
  unpackTree,
  pathOf,
  tokensOf,
  sharedTokens,
  spansOf,
  colourRamp,
  colouringOf,
  drawTree,
  drawRuler,
  element,
  tokenText,
  tokenDetails,
  heatText,
  attemptTable,
  nodeDetails,
  rowTokens,
  askKernel,
  makeActions,
  makeControls,
  replayWords,
  startExplorer,
];
