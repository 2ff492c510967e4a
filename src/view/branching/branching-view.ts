import { checkArguments } from "../../arguments/check-arguments.js";
import { checkOptions } from "../../arguments/check-options.js";
import { program } from "#pages/branching";
import type { RolloutTree } from "../../rollout/rollout-tree.js";
import { PictureView } from "../picture-view.js";
import { branchingPicture } from "./branching-picture.js";
import { branchingPayload, type BranchingOptions, branchingRules } from "./make-payload.js";
import type { BranchingPayload } from "./payload.js";

const style = `
.arpo-branching svg .arpo-mark{cursor:pointer}
.arpo-branching svg .arpo-faded{opacity:.12}
.arpo-branching svg .arpo-cursor circle{fill:none;stroke:var(--hot);stroke-width:2}
.arpo-branching svg .arpo-cursor line{stroke:var(--hot);stroke-width:.8;stroke-dasharray:3 3}
.arpo-branching .arpo-around{font:12px/1.6 ui-monospace,"DejaVu Sans Mono",monospace;white-space:pre-wrap;overflow-wrap:anywhere;border:1px solid var(--line);border-radius:8px;padding:6px 8px;margin:4px 0}
.arpo-branching .arpo-around b{outline:2px solid var(--hot);outline-offset:1px;border-radius:2px;padding:0 1px}
.arpo-branching .arpo-point{min-height:9em}
`;

/**
 * One tree and where every rule would branch in it; shows itself.
 */
export class BranchingView extends PictureView<BranchingPayload> {
  protected override readonly page = { name: "branching", style, program };

  /** All rules' lines as one picture. */
  override picture(): string {
    return branchingPicture(this.payload);
  }
}

/**
 * Where every branching rule would have branched in one tree, on one axis: a line per rule, a mark at each
 * place with its score and order. Rules that need what the tree does not carry say what that is. Nothing
 * is generated: it is what `tree.replay({ rule })` says.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { rollout } from "arpo-lab/rollout";
 * import { babbler } from "arpo-lab/experimental/testing";
 * import { branchingView } from "arpo-lab/view";
 *
 * const tree = await rollout(babbler(), { prompt: "6*7?" }, { n: 8, seed: 1 });
 * const view = branchingView(tree, { rules: ["treerl", "appo"] });
 * assert.match(view.summary, /\ntreerl: 32 branches at 16 places.*\nappo: 8 branches/);
 * ```
 */
export function branchingView(tree: RolloutTree, options: BranchingOptions = {}): BranchingView {
  checkArguments("show branching", { tree }, { tree: "tree" });
  checkOptions("show branching", options, branchingRules);
  return new BranchingView(branchingPayload(tree, options));
}
