import { checkArguments } from "../../../common/options/check-arguments.js";
import { checkOptions } from "../../../common/options/check-options.js";
import { program } from "#pages/explorer";
import { defined } from "../../../common/options/defined.js";
import type { RolloutTree } from "../../rollout/rollout-tree.js";
import { widgetHtml } from "../page/widget.js";
import { treePicture } from "./tree-picture.js";
import { liveTree } from "./live-trees.js";
import { type ExploreOptions, exploreRules, makePayload } from "./make-payload.js";
import type { ExplorerPayload, LiveTree } from "./payload.js";
import { explorerStyle } from "./style.js";

/**
 * A tree to look around in; shows itself.
 */
class Explorer {
  constructor(
    readonly tree: RolloutTree,
    readonly options: ExploreOptions = {},
  ) {}

  /** One piece of HTML that needs nothing else: a picture, the tree, and the program that shows it. */
  html(): string {
    return this.bundle()["text/html"]!;
  }

  /** The whole tree as one SVG, as the explorer draws it. */
  picture(): string {
    return treePicture(makePayload(this.tree, this.options));
  }

  /** Every form it can be shown in. */
  bundle(): Record<string, string> {
    const live = liveTree(this.tree);
    const tree = makePayload(this.tree, this.options);
    const picture = treePicture(tree);
    return {
      "text/html": explorerHtml(tree, picture, live),
      "image/svg+xml": picture,
      "text/plain": String(this.tree),
    };
  }

  [Symbol.for("Jupyter.display")](): Record<string, string> {
    return this.bundle();
  }
}

/** The explorer of what a page carries of a tree. */
export function explorerHtml(tree: ExplorerPayload, still: string, live?: LiveTree): string {
  return widgetHtml({
    ...{ name: "explorer", still, style: explorerStyle, program },
    data: { tree, ...defined({ live }) },
  });
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
  return new Explorer(tree, options);
}
