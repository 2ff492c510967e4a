import { checkArguments } from "../../../common/options/check-arguments.js";
import { checkOptions, integer, type OptionRules } from "../../../common/options/check-options.js";
import { program } from "#pages/explorer";
import { defined } from "../../../common/options/defined.js";
import type { RolloutTree } from "../../rollout/rollout-tree.js";
import type { Scored } from "../../reward/scored.js";
import { findingAddress } from "../page/address.js";
import { View } from "../page/view.js";
import { treePicture } from "./tree-picture.js";
import { liveTree } from "./live-trees.js";
import {
  type ExploreOptions,
  type ExploreOverOptions,
  exploreRules,
  makePayload,
} from "./make-payload.js";
import type { OverOptions } from "./over-options.js";
import type { ExplorerPayload } from "./payload.js";
import { explorerStyle } from "./style.js";

/** Where a link to a tree leads. */
export interface LinkOptions {
  /** The address of the explorer's page: `arpo-lab site` writes one. Default: `explore.html`, beside whoever reads the link. */
  page?: string;
  /** What is selected: a trajectory, a node, a token of the node. Default: nothing. */
  trajectory?: number;
  node?: number;
  token?: number;
}

const linkRules: OptionRules<LinkOptions> = {
  page: "text?",
  trajectory: integer(0),
  node: integer(0),
  token: integer(0),
};

/**
 * A tree to look around in; shows itself.
 */
export class Explorer extends View<ExplorerPayload> {
  protected override readonly page = { name: "explorer", style: explorerStyle, program };

  constructor(
    payload: ExplorerPayload,
    /** Where it is there: the page can continue it. */
    readonly tree?: RolloutTree,
    /** What a link to it says of its trajectories. */
    private readonly scored?: Scored,
  ) {
    super(payload);
  }

  /**
   * The tree as a link to the explorer's page, with its scores and the words of its tokens, opened at a place. Nothing is
   * uploaded: the tree stands in the part of the address that no server sees. In the page, "Run again" makes the tree again.
   */
  async link(options: LinkOptions = {}): Promise<string> {
    const { tree, scored } = this;
    checkOptions("make a link", options, linkRules);
    if (!tree) throw new TypeError("Cannot make a link: the explorer must have its tree, got none");
    const { findingOf } = await import("../../formats/write/finding.js");
    const { letters } = await findingOf(tree, { scored });
    if (letters === undefined) {
      throw new RangeError(
        `Cannot make a link: the tree must be one of at most about 2,000 tokens, got ${this.payload.title}; use saveTrees, and open its file and tokenizer.json in the page`,
      );
    }
    const { page = "explore.html", trajectory = -1, node = -1, token = -1 } = options;
    const at =
      node < 0 || trajectory >= 0 ? trajectory : Math.max(0, tree.nodes[node]?.trajectory ?? 0);
    return findingAddress(page, letters, { t: at, node, token });
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
 * With `over`, a run folder, it is a promise: the tree is scored under the run's checkpoints. A slider then draws it under
 * each: bars, chances to branch, and how much more likely each trajectory has become.
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
export function explore(tree: RolloutTree, options: ExploreOverOptions): Promise<Explorer>;
/** @param tree the tree to show */
export function explore(tree: RolloutTree, options?: ExploreOptions): Explorer;
export function explore(
  tree: RolloutTree,
  options: ExploreOptions & Partial<OverOptions> = {},
): Explorer | Promise<Explorer> {
  checkArguments("explore a tree", { tree }, { tree: "tree" });
  checkOptions("explore a tree", options, exploreRules);
  const { over, checkpoints, overBytes, ...own } = options;
  const payload = makePayload(tree, own);
  if (over === undefined) return new Explorer(payload, tree, options.scored);
  return exploreOver(tree, payload, { over, ...defined({ checkpoints, overBytes }) });
}

/** The same under each checkpoint of a run. */
async function exploreOver(tree: RolloutTree, payload: ExplorerPayload, options: OverOptions) {
  // What loads policies is read when somebody asks for it.
  const { scoreOver } = await import("./over-run.js");
  await scoreOver([{ tree, payload }], options);
  return new Explorer(payload, tree);
}
