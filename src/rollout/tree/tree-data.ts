import type { Sampler } from "../../policy/policy.js";
import { Random } from "../../base/random/random.js";
import type { RolloutConfig } from "../settings.js";
import type { PromptText, RolloutTask } from "../task.js";
import type { EntropyMonitor, TreeNode, TreeTrajectory } from "./tree-values.js";

/** Where a forked tree came from. */
export interface TreeOrigin {
  node: number;
  /** Tokens of that node that were kept. */
  at: number;
  /** Seed of the tree it was forked from. */
  seed: number;
}

/** What an environment needs to be made again: its task is the tree's, its instance the caller's. */
export interface TreeEnvironment {
  name: string;
  /** Tags of its tools. */
  tools: string[];
  /** What its randomness comes from, with the tree's place in its batch. */
  seed: number;
  /** What it said when it was reset: it follows the prompt. */
  observation?: string;
}

/** The plain data of a tree: what is written to files. */
export interface RolloutTreeData<T extends RolloutTask = RolloutTask> {
  task: T;
  /** The prompt's place in its batch. */
  index: number;
  /** Name of the policy. */
  policy: string;
  /** How what sampled differs from the model that trains; absent where it is that model. */
  sampler?: Sampler;
  /** How many updates the policy had been through that sampled it, but for nodes that say it themselves. */
  version?: number;
  prompt: PromptText;
  /** Every segment of the tree once; parents come before their children. */
  nodes: TreeNode[];
  /** Every trajectory, in order of creation. */
  trajectories: TreeTrajectory[];
  config: RolloutConfig;
  eosIds: number[];
  padId: number;
  /** The text that is left of a leaf that the response length cuts, by trajectory. */
  cutTexts: Record<number, string>;
  /** The trajectories that training uses, by id, where a rule selects them; one may be there twice. */
  selection?: number[];
  monitor?: EntropyMonitor;
  origin?: TreeOrigin;
  /** The environment its trajectories acted in. */
  environment?: TreeEnvironment;
}

/** The nodes from the prompt to a node, that node included. */
export function pathOf({ nodes }: Pick<RolloutTreeData, "nodes">, node: number): TreeNode[] {
  const path: TreeNode[] = [];
  for (let id = node; id >= 0; id = nodes[id]!.parent) path.push(nodes[id]!);
  return path.reverse();
}

/** The stream that all streams of a tree are split from: a function of its seed and place alone. */
export function treeRandom(tree: Pick<RolloutTreeData, "config" | "index" | "origin">): Random {
  const own = Random.from(tree.config.seed).split(tree.index);
  const { origin } = tree;
  return origin ? own.split("fork").split(origin.node).split(origin.at) : own;
}
