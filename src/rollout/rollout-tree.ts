import { checkArguments } from "../../common/options/check-arguments.js";
import { defined } from "../../common/options/defined.js";
import type { Tokenizer } from "../model/tokenizer/tokenizer.js";
import type { Sampler } from "../policy/policy.js";
import { logged, showAs, type Shown } from "../base/show/show-as.js";
import { type ForkChanges, type ForkPlace, forkTrees, type TreeRuntime } from "./grow/fork.js";
import type { Replay } from "./replay/replay-result.js";
import { replayBranches, type TreeReplayChanges } from "./replay/replay.js";
import type { RolloutConfig } from "./settings.js";
import type { PromptText, RolloutTask } from "./task.js";
import { toolMetrics } from "./tree/metrics.js";
import { type Trajectory, trajectoryOf } from "./tree/trajectory.js";
import {
  pathOf,
  type RolloutTreeData,
  type TreeEnvironment,
  type TreeOrigin,
} from "./tree/tree-data.js";
import type { EntropyMonitor, TreeNode } from "./tree/tree-values.js";

/** A tree in a few lines: what it is, and how each trajectory ended. */
function treeText({ trajectories, nodes, config, origin }: RolloutTreeData): string {
  const branches = trajectories.filter(({ kind }) => kind === "branch").length;
  const head = `RolloutTree: ${trajectories.length} trajectories (${branches} branches), ${nodes.length} nodes, seed ${config.seed}, ${config.rule}`;
  const lines = trajectories.map(({ id, kind, parent, calls, end }) => {
    const from = kind === "branch" ? `branch of ${parent}` : kind;
    const text = nodes.flatMap((node) => (node.trajectory === id ? [node.text] : [])).join("");
    return `  ${id} ${from}, ${calls} calls, ${end}: ${short(text, 72)}`;
  });
  const fork = origin ? [`  forked after token ${origin.at} of node ${origin.node}`] : [];
  return [head, ...fork, ...lines].join("\n");
}

function short(text: string, length: number): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > length ? `${line.slice(0, length - 1)}…` : line;
}

const runtimes = new WeakMap<object, TreeRuntime>();
const tokenizers = new WeakMap<object, Tokenizer>();

/**
 * A tree of trajectories from one prompt: plain data that knows how to continue, replay and show
 * itself.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { rollout } from "arpo-lab/rollout";
 * import { ScriptedPolicy } from "arpo-lab/experimental/testing";
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
  readonly sampler?: Sampler;
  readonly version?: number;
  readonly prompt: PromptText;
  readonly nodes: TreeNode[];
  /** Every trajectory, in order of creation. */
  declare readonly trajectories: Trajectory[];
  readonly config: RolloutConfig;
  readonly eosIds: number[];
  readonly padId: number;
  readonly cutTexts: Record<number, string>;
  readonly selection?: number[];
  readonly monitor?: EntropyMonitor;
  readonly origin?: TreeOrigin;
  readonly environment?: TreeEnvironment;
  #selected: Trajectory[] | undefined;

  /**
   * With its runtime a tree can be forked; with a tokenizer alone it can only be read.
   * @param data the tree as plain data
   * @param runtime what forks need, or a tokenizer for a tree to read
   */
  constructor(data: RolloutTreeData<T>, runtime?: TreeRuntime | { tokenizer: Tokenizer }) {
    checkArguments(
      "make a tree",
      { data },
      {
        data: {
          task: "object",
          prompt: "object",
          nodes: "list",
          trajectories: "list",
          config: "object",
        },
      },
    );
    this.task = data.task;
    this.index = data.index;
    this.policy = data.policy;
    if (data.sampler) this.sampler = data.sampler;
    if (data.version !== undefined) this.version = data.version;
    this.prompt = data.prompt;
    this.nodes = data.nodes;
    let trajectories: Trajectory[] | undefined;
    // Made when they are first asked for, since many trees are only looked at or stored.
    Object.defineProperty(this, "trajectories", {
      enumerable: true,
      get: () => (trajectories ??= data.trajectories.map((_, id) => trajectoryOf(data, id))),
    });
    this.config = data.config;
    this.eosIds = data.eosIds;
    this.padId = data.padId;
    this.cutTexts = data.cutTexts;
    if (data.selection) this.selection = data.selection;
    if (data.monitor) this.monitor = data.monitor;
    if (data.origin) this.origin = data.origin;
    if (data.environment) this.environment = data.environment;
    if (!runtime) return;
    if ("policy" in runtime) runtimes.set(this, runtime);
    else tokenizers.set(this, runtime.tokenizer);
  }

  /** The seed everything random in the tree came from. */
  get seed(): number {
    return this.config.seed;
  }

  /**
   * The trajectories that training uses: those in `selection` or, without one, the first n, the last one
   * repeated if there are fewer. Equal to `trajectories` unless a rule selects.
   */
  get selected(): Trajectory[] {
    if (this.#selected) return this.#selected;
    const { trajectories, selection, config } = this;
    const made = selection?.map((id) => trajectories[id]!) ?? trajectories.slice(0, config.n);
    const last = made.at(-1);
    while (!selection && last && made.length < config.n) made.push(last);
    return (this.#selected = made);
  }

  /** What turns its tokens into text: known for trees made in this process. */
  get tokenizer(): Tokenizer | undefined {
    return runtimes.get(this)?.policy.tokenizer ?? tokenizers.get(this);
  }

  /** Whether a policy is known that `fork` would go on with. */
  get canGoOn(): boolean {
    return runtimes.has(this);
  }

  /**
   * The nodes from the prompt to a node, that node included.
   * @param node the id of the last node
   */
  path(node: number): TreeNode[] {
    // -1 is the prompt, where a trajectory without tokens ends.
    if (node !== -1 && !this.nodes[node]) {
      throw new RangeError(
        `Cannot follow a path: the node must be one of -1 to ${this.nodes.length - 1}, got ${String(node)}`,
      );
    }
    return pathOf(this, node);
  }

  /** The tool metrics of this tree, under the reference's names; a shared call counts once. */
  get metrics(): Record<string, number> {
    return toolMetrics([this]);
  }

  /**
   * Where another rule, threshold, probability or weight would have branched, without generating.
   * Trajectories that were never made have no later rounds to ask about; the result counts them as unseen.
   * Rules that look at finished text choose in the tree's first trajectories and, from round to round, in
   * those of its trajectories that they would have made too.
   * @param changes the settings that differ from the tree's own
   */
  replay(changes: TreeReplayChanges): Replay {
    checkArguments("replay", { changes }, { changes: "object" });
    return replayBranches(this, { tokenizer: this.tokenizer, ...defined(changes) });
  }

  /**
   * A new tree that continues from a node of this one: with other settings, another seed, from the
   * middle of a segment (`at`), or after a tool result that was edited (`result`).
   * @param node the id of the node
   * @param changes the place in the node and the settings that differ
   */
  async fork(node: number, changes: ForkChanges = {}): Promise<RolloutTree<T>> {
    checkArguments("fork", { changes }, { changes: "object" });
    const { at, result, ...own } = changes;
    const [tree] = await this.forks([{ node, ...defined({ at, result }) }], own);
    return tree!;
  }

  /**
   * A new tree from each of several places, as `fork` gives one by one, in one batch: what the places
   * share is computed once.
   *
   * @param places the nodes, and where in them
   * @param changes the settings that differ
   * @example
   * ```ts
   * import assert from "node:assert/strict";
   * import { rollout } from "arpo-lab/rollout";
   * import { randomTextPolicy } from "arpo-lab/experimental/testing";
   *
   * const tree = await rollout(randomTextPolicy(), { prompt: "a" }, { seed: 1 });
   * const places = [0, 1, 2].map((at) => ({ node: 0, at }));
   * const forks = await tree.forks(places, { n: 4, seed: 2 });
   * assert.deepEqual(forks.map((fork) => fork.trajectories.length), [4, 4, 4]);
   * ```
   */
  async forks(
    places: readonly ForkPlace[],
    changes: Omit<ForkChanges, "at" | "result"> = {},
  ): Promise<RolloutTree<T>[]> {
    checkArguments("fork", { places, changes }, { places: "list", changes: "object" });
    const forked = await forkTrees(this, places, changes, runtimes.get(this));
    return forked.map(({ data, runtime }) => new RolloutTree(data, runtime));
  }

  [Symbol.for("arpo-lab.summary")](): { group: string; text: string } {
    return {
      group: "Trees",
      text: `${this.trajectories.length} trajectories, ${this.nodes.length} nodes`,
    };
  }

  /** A line about the tree, and one about each trajectory. */
  toString(): string {
    return treeText(this);
  }

  [Symbol.for("Jupyter.display")](): Shown {
    return showAs("RolloutTree", this);
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return logged(this);
  }
}
