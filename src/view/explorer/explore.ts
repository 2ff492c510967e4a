import { checkArguments } from "../../../common/options/check-arguments.js";
import { checkOptions } from "../../../common/options/check-options.js";
import { program } from "#pages/explorer";
import { defined } from "../../../common/options/defined.js";
import type { RolloutTree } from "../../rollout/rollout-tree.js";
import { View } from "../page/view.js";
import { treePicture } from "./tree-picture.js";
import { liveTree } from "./live-trees.js";
import { type ExploreOptions, exploreRules, makePayload } from "./make-payload.js";
import type { ExplorerPayload } from "./payload.js";
import { explorerStyle } from "./style.js";

/**
 * A tree to look around in; shows itself.
 */
export class Explorer extends View<ExplorerPayload> {
  protected override readonly page = { name: "explorer", style: explorerStyle, program };

  constructor(
    payload: ExplorerPayload,
    /** Where it is there: the page can continue it. */
    readonly tree?: RolloutTree,
  ) {
    super(payload);
  }

  override get summary(): string {
    return String(this.tree ?? this.payload.title);
  }

  /** The whole tree as one SVG, as the explorer draws it. */
  override picture(): string {
    return treePicture(this.payload);
  }

  protected override still(): string {
    return this.drawn;
  }

  protected override data() {
    const { payload, tree } = this;
    return { tree: payload, ...defined({ live: tree && liveTree(tree) }) };
  }
}

/**
 * A tree to look around in: colours by entropy, probability, reward or advantage; every branch
 * decision with what decided it, and what other settings would have decided; every token with its
 * alternatives. It works in saved pages too.
 *
 * @param tree the tree to show
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { rollout } from "arpo-lab/rollout";
 * import { randomTextPolicy } from "arpo-lab/experimental/testing";
 * import { explore } from "arpo-lab/view";
 *
 * const [tree] = await rollout(randomTextPolicy(), [{ prompt: "6*7?" }], { n: 4, seed: 1 });
 * assert.match(explore(tree).html(), /^<div id="explorer-/);
 * ```
 */
export function explore(tree: RolloutTree, options: ExploreOptions = {}): Explorer {
  checkArguments("explore a tree", { tree }, { tree: "tree" });
  checkOptions("explore a tree", options, exploreRules);
  return new Explorer(makePayload(tree, options), tree);
}
