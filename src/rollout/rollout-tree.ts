import type { Tokenizer } from "../model/tokenizer.js";
import type { Policy } from "../policy/policy.js";
import type { RolloutConfig } from "./config.js";
import type { ForkChanges } from "./fork.js";
import type { RolloutOptions } from "./options.js";
import { replayBranches, type Replay, type ReplayChanges } from "./replay.js";
import { toolMetrics } from "./rollout-metrics.js";
import { treeDisplay } from "./tree-display.js";
import type { PromptText, RolloutTask } from "./task.js";
import { trajectoryOf, type Trajectory } from "./trajectory.js";
import type { EntropyMonitor, TreeNode, TreeRow } from "./tree-values.js";

/** Where a forked tree came from. */
export interface TreeOrigin {
  node: number;
  /** Tokens of that node that were kept. */
  at: number;
  /** Seed of the tree it was forked from. */
  seed: number;
}

/** The plain data of a tree: what is written to files. */
export interface RolloutTreeData<T extends RolloutTask = RolloutTask> {
  task: T;
  /** The prompt's place in its batch. */
  index: number;
  /** Name of the policy. */
  policy: string;
  prompt: PromptText;
  /** Every stretch of the tree once; parents come before their children. */
  nodes: TreeNode[];
  /** Every row in the order of creation. */
  rows: TreeRow[];
  config: RolloutConfig;
  eosIds: number[];
  padId: number;
  /** The kept text of a leaf that the response length cuts, by row. */
  cutTexts: Record<number, string>;
  monitor?: EntropyMonitor;
  origin?: TreeOrigin;
}

/** What `fork` needs besides the tree: known for trees made in this process. */
export interface TreeRuntime {
  policy: Policy;
  options: RolloutOptions;
}

const runtimes = new WeakMap<object, TreeRuntime>();

/**
 * A tree of trajectories from one prompt: plain data that knows how to continue, replay and show
 * itself.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { rollout } from "arpo-lab/rollout";
 * import { ScriptedPolicy } from "arpo-lab/rollout/testing";
 *
 * const policy = new ScriptedPolicy(() => ({ text: "42\u0001" }));
 * const tree = await rollout(policy, { prompt: "6*7?" }, { n: 3, initialRollouts: 1 });
 * assert.equal(tree.trajectories.length, 3);
 * assert.equal(tree.trajectories[0].text, "42");
 * ```
 */
export class RolloutTree<T extends RolloutTask = RolloutTask> implements RolloutTreeData<T> {
  readonly task: T;
  readonly index: number;
  readonly policy: string;
  readonly prompt: PromptText;
  readonly nodes: TreeNode[];
  readonly rows: TreeRow[];
  readonly config: RolloutConfig;
  readonly eosIds: number[];
  readonly padId: number;
  readonly cutTexts: Record<number, string>;
  readonly monitor?: EntropyMonitor;
  readonly origin?: TreeOrigin;
  #trajectories: Trajectory[] | undefined;

  constructor(data: RolloutTreeData<T>, runtime?: TreeRuntime) {
    this.task = data.task;
    this.index = data.index;
    this.policy = data.policy;
    this.prompt = data.prompt;
    this.nodes = data.nodes;
    this.rows = data.rows;
    this.config = data.config;
    this.eosIds = data.eosIds;
    this.padId = data.padId;
    this.cutTexts = data.cutTexts;
    if (data.monitor) this.monitor = data.monitor;
    if (data.origin) this.origin = data.origin;
    if (runtime) runtimes.set(this, runtime);
  }

  /** The seed everything random in the tree came from. */
  get seed(): number {
    return this.config.seed;
  }

  /**
   * The n trajectories training uses: the first n rows in the order of creation, the last one repeated
   * if there are fewer.
   */
  get trajectories(): Trajectory[] {
    if (!this.#trajectories) {
      const made = this.rows
        .slice(0, this.config.n)
        .map((row) => trajectoryOf(this as RolloutTree, row.row));
      const last = made.at(-1);
      while (last && made.length < this.config.n) made.push(last);
      this.#trajectories = made;
    }
    return this.#trajectories;
  }

  /** What turns its tokens into text: known for trees made in this process. */
  get tokenizer(): Tokenizer | undefined {
    return runtimes.get(this)?.policy.tokenizer;
  }

  /** The nodes from the prompt to a node, that node included. */
  path(node: number): TreeNode[] {
    const path: TreeNode[] = [];
    for (let id = node; id >= 0; id = this.nodes[id]!.parent) path.push(this.nodes[id]!);
    return path.reverse();
  }

  /** The tool metrics of this tree, under the reference's names; a shared call counts once. */
  get metrics(): Record<string, number> {
    return toolMetrics([this as RolloutTree]);
  }

  /**
   * Where another rule, threshold, probability or weight would have branched, without generating. Rows
   * that were never made have no later rounds to ask about; the answer says how many it could not see.
   */
  replay(changes: ReplayChanges): Replay {
    return replayBranches(this as RolloutTree, changes);
  }

  /**
   * A new tree that continues from a node of this one: with other settings, another seed, from the
   * middle of a segment (`at`), or after a tool result that was edited (`result`).
   */
  async fork(node: number, changes: ForkChanges = {}): Promise<RolloutTree<T>> {
    const { forkTree } = await import("./fork.js");
    return forkTree(this, node, changes, runtimes.get(this));
  }

  [Symbol.for("arpo-lab.summary")](): { group: string; text: string } {
    return { group: "Trees", text: `${this.rows.length} rows, ${this.nodes.length} nodes` };
  }

  [Symbol.for("Jupyter.display")](): Record<string, string> {
    return treeDisplay.show(this as RolloutTree);
  }
}
