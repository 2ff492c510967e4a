import { defined } from "../../../common/options/defined.js";
import type { Policy } from "../../policy/policy.js";
import type { RolloutConfig } from "../settings.js";
import type { LiveNode } from "./live-trajectory.js";
import type { RolloutTreeData } from "../tree/tree-data.js";
import type { RolloutTask } from "../task.js";
import type { TreeRun } from "./tree-run.js";
import type { TreeNode } from "../tree/tree-values.js";

/**
 * A grown tree as plain data. Nodes are numbered by trajectory and along each trajectory, whatever the order in
 * which they came into being.
 */
export function finishTree<T extends RolloutTask>(
  run: TreeRun,
  task: T,
  config: RolloutConfig,
  policy: Pick<Policy, "name" | "tokenizer" | "sampler" | "version">,
  environmentSeed: number = config.seed,
): RolloutTreeData<T> {
  const ids = new Map<LiveNode, number>();
  const nodes: TreeNode[] = [];
  const idOf = (node: LiveNode | undefined) => (node ? ids.get(node)! : -1);
  const take = (leaf: LiveNode | undefined) => {
    const fresh: LiveNode[] = [];
    for (let node = leaf; node && !ids.has(node); node = node.parent) fresh.push(node);
    for (const node of fresh.reverse()) {
      const id = nodes.length;
      const { parent, ...rest } = node;
      nodes.push({ id, ...rest, parent: idOf(parent) });
      ids.set(node, id);
    }
  };
  const cutTexts: Record<number, string> = {};
  for (const trajectory of run.trajectories) {
    take(trajectory.leaf);
    const over = trajectory.length - config.responseLength;
    if (over > 0) {
      cutTexts[trajectory.id] = policy.tokenizer.decode(keptOfCutNode(trajectory.leaf, over), {
        skipSpecial: true,
      });
    }
  }
  return {
    task,
    index: run.index,
    policy: policy.name,
    ...(policy.sampler ? { sampler: policy.sampler } : {}),
    ...defined({ version: policy.version }),
    prompt: run.prompt,
    nodes,
    trajectories: run.trajectories.map(
      ({ id, kind, round, parent, from, leaf, end, calls, outcome, chosen }) => {
        if (end === undefined)
          throw new Error(`Cannot finish a tree: trajectory ${id} has not ended`);
        const made = { id, kind, round, parent, from: idOf(from), leaf: idOf(leaf), end, calls };
        return { ...made, ...defined({ outcome, chosen }) };
      },
    ),
    config,
    // Turns of a chat end in the middle of a trajectory too.
    eosIds: config.calls === undefined ? [...policy.tokenizer.eosIds] : [],
    padId: policy.tokenizer.padId,
    cutTexts,
    ...(run.environment ? { environment: { ...run.environment, seed: environmentSeed } } : {}),
    ...defined({ selection: run.selection }),
  };
}

/** What is left of the node that a cut of `over` tokens from the end goes through. */
function keptOfCutNode(leaf: LiveNode | undefined, over: number): Int32Array {
  let node = leaf;
  while (node && over >= node.tokens.length) {
    over -= node.tokens.length;
    node = node.parent;
  }
  return node && over > 0 ? node.tokens.subarray(0, node.tokens.length - over) : new Int32Array(0);
}
