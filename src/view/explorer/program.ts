import { decideBranch } from "../../rollout/branch-rule.js";
import { ConsecutivePenalty } from "../../rollout/consecutive-penalty.js";
import { followPlan } from "../../rollout/follow-plan.js";
import { palettes } from "../palette.js";
import { colouringOf, colourRamp } from "./page/colours.js";
import { makeControls, replayWords } from "./page/controls.js";
import { drawTree } from "./page/draw.js";
import { element } from "./page/element.js";
import { heatText, tokenDetails, tokenText } from "./page/heat-text.js";
import { attemptTable, nodeDetails, rowTokens } from "./page/node-details.js";
import { pathOf, sharedTokens, spansOf, tokensOf } from "./page/paths.js";
import { startExplorer } from "./page/start.js";
import { unpackTree } from "./page/unpack.js";

// Each of these uses nothing but the others: their sources together are a program of their own. The
// branching arithmetic is the rollouts' own code.
const parts = [
  decideBranch,
  ConsecutivePenalty,
  followPlan,
  unpackTree,
  pathOf,
  tokensOf,
  sharedTokens,
  spansOf,
  colourRamp,
  colouringOf,
  drawTree,
  element,
  tokenText,
  tokenDetails,
  heatText,
  attemptTable,
  nodeDetails,
  rowTokens,
  makeControls,
  replayWords,
  startExplorer,
];

/** The functions of the explorer's page as source text. */
export function explorerFunctions(): string {
  return parts.map(String).join("\n");
}

/** What the page runs to bring the explorer with an id to life. */
export function explorerProgram(id: string): string {
  const { auto, dark } = palettes;
  const colours = JSON.stringify({ light: auto, dark });
  return (
    `(()=>{"use strict";\n${explorerFunctions()}\n` +
    `const start=()=>startExplorer(${JSON.stringify(id)},${colours});\n` +
    `if(document.readyState==="loading")addEventListener("DOMContentLoaded",start,{once:true});else start();})()`
  ).replace(/<(?=[/!])/g, "\\x3c");
}
