import type { Scored, ScoredTrajectory } from "../../../reward/scored.js";
import type { RolloutTree } from "../../../rollout/rollout-tree.js";
import { pathOf } from "../../../rollout/tree/tree-data.js";
import { type Turn, turnsOf } from "../../../rollout/tree/turns.js";
import { scores } from "../base/estimator.js";
import type { Rows } from "../../masked.js";

/** A scored trajectory, with where it began in its tree. */
export interface CreditTrajectory {
  scored: ScoredTrajectory;
  tree: RolloutTree;
  group: string;
  /** The trajectory it left, by its number in its tree; -1 for none. */
  parent: number;
  /** Tokens it has in common with that trajectory; of a forked tree, with all of the tree. */
  shared: number;
  /** Whether it was there before anything branched. */
  initial: boolean;
  length: number;
  /** The sum of its tokens' rewards. */
  reward: number;
  turns: readonly Turn[];
  /** Where each of the policy's segments ends, a result before it and an end token behind it included. */
  segments: readonly number[];
}

function segmentEnds(tree: RolloutTree, { trajectory }: ScoredTrajectory): number[] {
  const ends: number[] = [];
  let at = 0;
  let open = false;
  for (const id of trajectory.nodes) {
    const { kind, tokens } = tree.nodes[id]!;
    at = Math.min(trajectory.tokens.length, at + tokens.length);
    if (kind === "model") {
      ends.push(at);
      open = false;
    } else if (kind === "end" && ends.length > 0 && !open) ends[ends.length - 1] = at;
    else open = true;
  }
  if (open || ends.length === 0) ends.push(at);
  return ends;
}

/** The tree that made a trajectory: told by the trajectory itself, or by the tree's place. */
function treeFinder({ trees }: Scored): (trajectory: ScoredTrajectory) => RolloutTree {
  const made = new Map(trees.flatMap((tree) => tree.selected.map((one) => [one, tree] as const)));
  return ({ trajectory, group }) => {
    const tree = made.get(trajectory) ?? trees.find(({ index }) => index === trajectory.tree);
    if (tree) return tree;
    throw new TypeError(
      `Cannot give credit by trees: the scored trajectories must come with their trees, got none for trajectory ${trajectory.id} of ${group}`,
    );
  };
}

/** What credit rules need of every scored trajectory. */
export function creditTrajectories(scored: Scored, rewards: Rows): CreditTrajectory[] {
  const treeOf = treeFinder(scored);
  const totals = scores(rewards);
  return scored.trajectories.map((row, i) => {
    const { trajectory, group } = row;
    const tree = treeOf(row);
    const { from, parent, kind } = tree.trajectories[trajectory.id]!;
    const before = pathOf(tree, from).reduce((sum, { tokens }) => sum + tokens.length, 0);
    return {
      scored: row,
      ...{ tree, group, parent },
      shared: Math.min(before, trajectory.tokens.length),
      initial: kind !== "branch",
      length: trajectory.tokens.length,
      reward: totals[i]!,
      turns: turnsOf(tree, trajectory),
      segments: segmentEnds(tree, row),
    };
  });
}

/** Trajectories by their tree and number; trajectories that a short tree repeats are there once. */
export function trajectoryFinder(
  trajectories: readonly CreditTrajectory[],
): (tree: RolloutTree, trajectory: number) => number {
  const found = new Map<RolloutTree, Map<number, number>>();
  trajectories.forEach(({ tree, scored }, i) => {
    const own = found.get(tree) ?? new Map<number, number>();
    found.set(tree, own);
    if (!own.has(scored.trajectory.id)) own.set(scored.trajectory.id, i);
  });
  return (tree, trajectory) => found.get(tree)?.get(trajectory) ?? -1;
}

/** Tokens that a tree's trajectories have in common with the trajectory each left, scored or not. */
export function sharedTokens(tree: RolloutTree): number[] {
  return tree.trajectories.map(({ from }) =>
    pathOf(tree, from).reduce((sum, { tokens }) => sum + tokens.length, 0),
  );
}

/**
 * Names for the beginnings of trajectories: two trajectories give the same name to their first `length`
 * tokens exactly where both have them in common.
 */
export function prefixNames(
  trajectories: readonly CreditTrajectory[],
): (trajectory: number, length: number) => string {
  const trees = new Map(
    [...new Set(trajectories.map(({ tree }) => tree))].map((tree, i) => [tree, i]),
  );
  const shared = new Map([...trees.keys()].map((tree) => [tree, sharedTokens(tree)]));
  return (trajectory, length) => {
    const { tree, scored } = trajectories[trajectory]!;
    const common = shared.get(tree)!;
    let at = scored.trajectory.id;
    // A branch's first tokens are its parent's, be that one scored or not.
    while (tree.trajectories[at]!.parent >= 0 && length <= common[at]!)
      at = tree.trajectories[at]!.parent;
    const place = `${trees.get(tree)}`;
    // All trajectories of a forked tree begin with what was there before the fork.
    if (tree.trajectories[at]!.parent < 0 && length > 0 && length <= common[at]!) {
      return `${place} before ${length}`;
    }
    return `${place} ${at} ${length}`;
  };
}

/**
 * The first of the trajectories that go back to the same initial trajectory: one tree of a prompt, where a
 * method has several. The initial trajectory itself need not be among them.
 */
export function familyOf(
  trajectories: readonly CreditTrajectory[],
): (trajectory: number) => number {
  const first = new Map<RolloutTree, Map<number, number>>();
  const families = trajectories.map(({ tree, scored }, i) => {
    let root = scored.trajectory.id;
    while (tree.trajectories[root]!.parent >= 0) root = tree.trajectories[root]!.parent;
    const own = first.get(tree) ?? new Map<number, number>();
    first.set(tree, own);
    const family = own.get(root) ?? i;
    own.set(root, family);
    return family;
  });
  return (trajectory) => families[trajectory]!;
}

/** Trajectory numbers by prompt, in the order the prompts first appear. */
export function prompts(trajectories: readonly CreditTrajectory[]): number[][] {
  const found = new Map<string, number[]>();
  trajectories.forEach(({ group }, i) => found.set(group, [...(found.get(group) ?? []), i]));
  return [...found.values()];
}

/** Scored trajectories as credit rules read them. */
export interface CreditBatch {
  trajectories: readonly CreditTrajectory[];
  rewards: Rows;
  /** Where the policy is trained. */
  mask: Rows;
  groups: readonly string[];
}

export function creditBatch(scored: Scored, rewards: Rows): CreditBatch {
  return {
    trajectories: creditTrajectories(scored, rewards),
    rewards,
    mask: scored.trajectories.map(({ trajectory }) => trajectory.lossMask),
    groups: scored.trajectories.map(({ group }) => group),
  };
}
