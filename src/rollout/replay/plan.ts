import { branchOf, type BranchSettings } from "../rules/decide-branch.js";
import { pathOf, type RolloutTreeData, treeRandom } from "../tree/tree-data.js";
import type { TreeNode } from "../tree/tree-values.js";

/** One attempt that a trajectory may make after a round. */
interface PlannedAttempt {
  u: number;
  entropy: number;
  baseline: number;
  /** What was decided when the tree was made; undefined if nothing was tried here. */
  was?: boolean;
  /** The trajectory it made. */
  child?: number;
}

/** A point where a trajectory continued to a further round. */
interface PlannedStep {
  trajectory: number;
  round: number;
  node: number;
  /** Tokens of the response up to here. */
  at: number;
  attempts: PlannedAttempt[];
}

/** All that replaying a tree's branch decisions needs, as plain data. */
export interface ReplayPlan {
  settings: BranchSettings;
  penalty: "prompt" | "path";
  n: number;
  attemptsPerTrajectory: number;
  rounds: number;
  steps: PlannedStep[];
  trajectories: { id: number; kind: "initial" | "branch" | "refill"; round: number }[];
}

/** What may be decided anew in a tree, with the draws that decide it. */
export function planReplay(tree: RolloutTreeData, tries?: number): ReplayPlan {
  const { penalty, n, expand } = tree.config;
  const settings = branchOf(tree.config);
  // A rule that looks at what was written makes no attempts; another would make one.
  const attemptsPerTrajectory = tries ?? (expand ? 1 : tree.config.attemptsPerTrajectory);
  const draws = treeRandom(tree).split("branch");
  const steps = stepsOf(tree).map(({ trajectory, round, node, entropy, baseline }) => ({
    trajectory,
    round,
    node: node.id,
    at: pathOf(tree, node.id).reduce((sum, { tokens }) => sum + tokens.length, 0),
    attempts: Array.from({ length: attemptsPerTrajectory }, (_, attempt): PlannedAttempt => {
      const made = node.branch?.find((b) => b.round === round && b.attempt === attempt);
      if (!made) {
        return { u: draws.split(trajectory).split(round).at(attempt), entropy, baseline };
      }
      const { u, branch: was, child } = made;
      return { u, entropy: made.entropy, baseline: made.baseline, was, child };
    }),
  }));
  const rounds = 1 + tree.nodes.reduce((most, node) => Math.max(most, node.round), -1);
  const trajectories = tree.trajectories.map(({ id, kind, round }) => ({ id, kind, round }));
  return { settings, penalty, n, attemptsPerTrajectory, rounds, steps, trajectories };
}

/** Every point where a trajectory continued to a further round, by round and trajectory. */
function stepsOf(tree: RolloutTreeData) {
  const steps: {
    trajectory: number;
    round: number;
    node: TreeNode;
    entropy: number;
    baseline: number;
  }[] = [];
  const baselines = new Map<number, number>();
  const byTrajectory = new Map<number, TreeNode[]>(tree.trajectories.map(({ id }) => [id, []]));
  for (const node of tree.nodes) byTrajectory.get(node.trajectory)?.push(node);
  for (const { id, parent } of tree.trajectories) {
    const own = byTrajectory.get(id) ?? [];
    // Where a trajectory was left in the middle of a segment there are several nodes of it; the first tells
    // of all.
    const written = own.filter(
      (node, i) => node.kind === "model" && own.findIndex((n) => n.round === node.round) === i,
    );
    const inherited = tree.config.baseline === "ancestor" ? baselines.get(parent) : undefined;
    const baseline = inherited ?? written[0]?.entropy ?? 0;
    baselines.set(id, baseline);
    for (const [i, model] of written.entries()) {
      const next = written[i + 1];
      if (!next) break;
      const { round } = model;
      const node = own.filter((n) => n.round === round).at(-1)!;
      // Looking ahead, the paper's timing sees the tokens that the trajectory then wrote.
      const seen = tree.config.entropyTiming === "after-result" ? next : model;
      steps.push({ trajectory: id, round, node, entropy: seen.entropy ?? 0, baseline });
    }
  }
  return steps;
}
