import type { RolloutTree } from "../../../rollout/rollout-tree.js";
import type { CreditNode, CreditTree } from "../credit.js";
import { type CreditTrajectory, sharedTokens } from "./credit-trajectories.js";

/** A trajectory as a sampler of chains keeps it: what it wrote itself, and where it left another trajectory. */
export interface Chain {
  /** The chain it left, by its place in its tree; the first chain of a tree has none. */
  parent?: number;
  /** The tokens of its parent, counted from the parent's own first, that it keeps. */
  split?: number;
  /** Tokens of its own. */
  tokens: number;
  /** Without one it is no leaf: only what left it is there. */
  score?: number;
  /** Default: a score above 0. */
  correct?: boolean;
  /** It ended by itself, not by a limit. Default: true. */
  ended?: boolean;
}

/** The segments between forks: the first node is the prompt, the trees stand below it. */
export interface Forest extends CreditTree {
  /** The node that each leaf stands on, in the order in which the published builder meets them. */
  leaves: readonly number[];
  /** The chain that ends at each of them: its tree, and its place there. */
  chains: readonly { tree: number; chain: number }[];
}

/**
 * Cuts chains at their forks. A leaf is met where its chain's last split is reached, before the chains
 * that leave there are entered.
 */
export function forestOf(trees: readonly (readonly Chain[])[]): Forest {
  const nodes: CreditNode[] = [{ parent: -1, tokens: 0 }];
  const leaves: number[] = [];
  const chains: { tree: number; chain: number }[] = [];
  const add = (parent: number) => nodes.push({ parent, tokens: 0 }) - 1;

  trees.forEach((list, tree) => {
    const children: number[][] = list.map(() => []);
    list.forEach(({ parent }, chain) => {
      if (parent !== undefined) children[parent]!.push(chain);
    });
    const splitOf = (chain: number) => list[chain]!.split ?? 0;
    const end = (node: number, chain: number, score: number) => {
      nodes[node]!.score = score;
      leaves.push(node);
      chains.push({ tree, chain });
    };
    /** Adds a chain whose first tokens belong to a node that is there already. */
    const build = (chain: number, node: number): void => {
      const { tokens, score } = list[chain]!;
      const own = [...children[chain]!].sort((a, b) => splitOf(a) - splitOf(b));
      const splits = [...new Set(own.map(splitOf))];
      nodes[node]!.tokens += splits[0] ?? tokens;
      if (splits.length === 0) end(node, chain, score ?? 0);
      let at = node;
      splits.forEach((split, i) => {
        const next = splits[i + 1];
        const leaving = own.filter((child) => splitOf(child) === split);
        if (next === undefined && score === undefined) {
          // Nothing else goes on here: one that leaves alone is no fork.
          const alone = leaving.length === 1;
          for (const child of leaving) build(child, alone ? at : add(at));
          return;
        }
        const segment = add(at);
        nodes[segment]!.tokens += (next ?? tokens) - split;
        if (next === undefined) end(segment, chain, score!);
        for (const child of leaving) build(child, add(at));
        at = segment;
      });
    };
    if (list.length > 0) build(0, add(0));
  });
  return { nodes, leaves, chains };
}

export const wasCut = ({ scored }: CreditTrajectory) =>
  ["length", "context"].includes(scored.trajectory.end);

/** Scored trajectories of a tree and all that they go back to, the ones that were left first. */
function withAncestors(tree: RolloutTree, scored: Iterable<number>): number[] {
  const needed = new Set<number>();
  for (let trajectory of scored) {
    for (
      ;
      trajectory >= 0 && !needed.has(trajectory);
      trajectory = tree.trajectories[trajectory]!.parent
    )
      needed.add(trajectory);
  }
  return [...needed].sort((a, b) => a - b);
}

/**
 * A prompt's trajectories as chains, a tree for every initial trajectory; trajectories that are not
 * scored are no leaves.
 */
export function chainsOf(trajectories: readonly CreditTrajectory[], own: readonly number[]) {
  const trees: Chain[][] = [];
  /** The scored trajectory behind each chain; -1 for none. */
  const members: number[][] = [];
  const byTree = new Map<RolloutTree, Map<number, number>>();
  for (const trajectory of own) {
    const { tree, scored } = trajectories[trajectory]!;
    const known = byTree.get(tree) ?? new Map<number, number>();
    byTree.set(tree, known);
    if (!known.has(scored.trajectory.id)) known.set(scored.trajectory.id, trajectory);
  }
  for (const [tree, scored] of byTree) {
    const shared = sharedTokens(tree);
    const place = new Map<number, { at: number; chain: number; start: number }>();
    for (const one of withAncestors(tree, scored.keys())) {
      const { parent } = tree.trajectories[one]!;
      // What was left may have been left before its own first token.
      let above = parent;
      while (above >= 0 && place.get(above)!.start > shared[one]!)
        above = tree.trajectories[above]!.parent;
      const left = place.get(above);
      const start = left ? shared[one]! : 0;
      const at = left?.at ?? trees.length;
      const trajectory = scored.get(one);
      const list = (trees[at] ??= []);
      place.set(one, { at, chain: list.length, start });
      (members[at] ??= []).push(trajectory ?? -1);
      list.push({
        ...(left ? { parent: left.chain, split: start - left.start } : {}),
        tokens:
          trajectory === undefined ? 0 : Math.max(0, trajectories[trajectory]!.length - start),
        ...(trajectory === undefined
          ? {}
          : { score: trajectories[trajectory]!.reward, ended: !wasCut(trajectories[trajectory]!) }),
      });
    }
  }
  return { trees, members };
}
