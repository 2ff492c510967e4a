import type { RolloutTreeData } from "../tree/tree-data.js";
import { replayBranches } from "./replay.js";

/**
 * The share of the branch decisions of trees that would have been otherwise without the entropy term, from the same
 * draws: what `replay({ weight: 0 })` changes. Undefined where no decision was made.
 */
export function decidedByEntropy(trees: readonly RolloutTreeData[]): number | undefined {
  let [made, changed] = [0, 0];
  for (const tree of trees) {
    const decided = tree.nodes.reduce((sum, { branch = [] }) => sum + branch.length, 0);
    if (decided === 0) continue;
    made += decided;
    const { attempts } = replayBranches(tree, { weight: 0 });
    changed += attempts.filter(({ was, branch }) => was !== undefined && was !== branch).length;
  }
  return made === 0 ? undefined : changed / made;
}
