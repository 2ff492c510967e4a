import type { Random } from "../../base/random/random.js";
import {
  type CreditNode,
  type CreditTree,
  bottomUp,
  leafSums,
  pathTo,
  type CreditSum,
  type CreditTerm,
  short,
  total,
} from "./credit.js";

/** A trajectory as TreeRL's sampler keeps it: what it wrote itself, and where it left another trajectory. */
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
interface Forest extends CreditTree {
  /** The node that each leaf stands on, in the order in which the published builder meets them. */
  leaves: readonly number[];
  /** The chain that ends at each of them: its tree, and its place there. */
  chains: readonly { tree: number; chain: number }[];
}

/**
 * Cuts chains at their forks. A leaf is met where its chain's last split is reached, before the chains
 * that leave there are entered.
 */
function forestOf(trees: readonly (readonly Chain[])[]): Forest {
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

/**
 * TreeRL's choice of the leaves it trains on: the first right one in a random order, then any others; or
 * with `balance` first as many right and as many wrong ones as that share of the number says.
 */
export function chooseLeaves(
  right: readonly boolean[],
  count: number,
  random: Random,
  balance = 0,
): number[] {
  const order = random.split("order").shuffle(right.map((_, leaf) => leaf));
  const most = balance > 0 ? Math.floor(count * balance) : 1;
  let wrong = balance > 0 ? most : 0;
  let good = most;
  const chosen: number[] = [];
  const rest: number[] = [];
  for (const leaf of order) {
    if (right[leaf] ? good-- > 0 : wrong-- > 0) chosen.push(leaf);
    else rest.push(leaf);
  }
  const others = random.split("others").shuffle(rest);
  chosen.push(...others.slice(0, Math.max(0, count - chosen.length)));
  return random.split("trained").shuffle(chosen).slice(0, count);
}

export const treeRlWeights = ["sqrt", "uniform", "original"] as const;
export const treeRlCentres = ["none", "step", "token"] as const;
export const treeRlBonuses = ["state", "chain", "orm", "value-only", "none"] as const;

export interface TreeRlOptions {
  /** `paper`: [(V - V(prompt)) + (V - V(parent))] / √leaves. Default `code`. */
  rule?: "code" | "paper";
  /** What a segment's sum is divided by, of the trained leaves below it. Default `sqrt`. */
  weights?: (typeof treeRlWeights)[number];
  /** Takes a mean over segments, or over their tokens, off all sums. Default `none`. */
  centre?: (typeof treeRlCentres)[number];
  /** What is added to the difference to the parent, or stands instead of it. Default `state`. */
  bonus?: (typeof treeRlBonuses)[number];
  /** A segment of value 0 gets its predecessor's. Default: true, as published. */
  fill?: boolean;
  /** Inner sums are means over the children. Default: false. */
  averageChildren?: boolean;
  /** Trajectories that were cut count -1 among the leaves. Default: false. */
  penalizeCut?: boolean;
  /** The mean difference to all segments above, and nothing else, in place of all that. Default: false. */
  allAncestors?: boolean;
  /** Leaves that are trained on, by their number in the forest. Default: all. */
  trained?: readonly number[];
}

/** One segment on the way to a leaf, with what each of its tokens gets. */
interface TreeRlSegment {
  node: number;
  tokens: number;
  sum: CreditSum;
  value: number;
  state: number;
  /** The share of right trajectories below it. */
  passRatio: number;
}

/** Values below this count as 0 and are filled. */
const nothing = 1e-8;

/** A sum for each segment on the way to each trained leaf, and every node's state. */
interface Valued {
  sums: CreditSum[][];
  state: number[];
}

/** Every leaf's score against the mean of the others. */
function againstOthers(values: readonly number[]): number[] {
  const all = values.reduce((sum, v) => sum + v, 0);
  return values.map((v) => v - (all - v) / (values.length - 1));
}

/** Trained leaves below every node. */
function countTrained(forest: Forest, trained: readonly number[]): number[] {
  const count = forest.nodes.map(() => 0);
  for (const leaf of trained) {
    for (let at = forest.leaves[leaf]!; at >= 0; at = forest.nodes[at]!.parent) count[at]!++;
  }
  return count;
}

/** What the code accumulates at every node before it is divided by its leaves. */
function accumulate(
  forest: Forest,
  chains: readonly Chain[],
  options: TreeRlOptions,
): { acc: number[]; leaves: number[] } {
  const { nodes } = forest;
  const raw = againstOthers(chains.map(({ score = 0 }) => score));
  const centred = raw.map((r, i) => (options.penalizeCut && chains[i]!.ended === false ? -1 : r));
  const own = nodes.map((): number | undefined => undefined);
  forest.leaves.forEach((node, i) => (own[node] = centred[i]!));
  const scored = nodes.map(({ parent, tokens }, node) => ({ parent, tokens, score: own[node] }));
  const { sum, count } = leafSums({ nodes: scored });
  const acc = options.averageChildren
    ? bottomUp(
        { nodes },
        (node) => own[node] ?? 0,
        (_, __, values) => values.reduce((a, b) => a + b, 0) / values.length,
      )
    : sum;
  const { centre = "none" } = options;
  if (centre === "none") return { acc, leaves: count };
  const weight = (node: number) => (centre === "token" ? nodes[node]!.tokens : 1);
  const values = acc.reduce((all, a, node) => all + a * weight(node), 0);
  const places = count.reduce((all, n, node) => all + n * weight(node), 0);
  const mean = places === 0 ? 0 : values / places;
  return { acc: acc.map((a, node) => a - mean * count[node]!), leaves: count };
}

/** What a sum over some trained leaves is divided by, and how that is written. */
const divisors: Record<
  (typeof treeRlWeights)[number],
  (n: number) => { by: number; text: string[] }
> = {
  sqrt: (n) => ({ by: Math.sqrt(n), text: [`√${n}`] }),
  uniform: (n) => ({ by: n, text: [String(n)] }),
  original: () => ({ by: 1, text: [] }),
};

const times = (share: number, text: string) =>
  share === 1 ? text : share === -1 ? `-(${text})` : `${short(share)} * (${text})`;

/** Who a segment's state is compared with. */
interface Above {
  node: number;
  name: string;
}

/** The code's value of every segment on the way to each trained leaf. */
function byCode(forest: Forest, chains: readonly Chain[], options: TreeRlOptions): Valued {
  const { weights = "sqrt", fill = true, allAncestors = false, averageChildren } = options;
  const bonus = allAncestors ? "none" : (options.bonus ?? "state");
  const trained = options.trained ?? forest.leaves.map((_, i) => i);
  const { acc: plain, leaves } = accumulate(forest, chains, options);
  const below = countTrained(forest, trained);
  const divided = below.map((n) => (n > 0 ? divisors[weights](n) : { by: 1, text: [] }));
  const acc = plain.map((a, node) => a / divided[node]!.by);
  // Averaged sums are means already.
  const trajectories = averageChildren ? leaves.map(() => 1) : leaves;
  const state = acc.map((a, node) => a / trajectories[node]!);
  const term = (name: string, node: number, share = 1): CreditTerm => ({
    name,
    value: share * state[node]!,
    from: times(
      share,
      [short(plain[node]!), ...divided[node]!.text, trajectories[node]].join(" / "),
    ),
  });
  const difference = (node: number, above: readonly Above[]): CreditSum => ({
    terms: [
      term("its state", node),
      ...above.map((one) => term(one.name, one.node, -1 / above.length)),
    ],
    factors: [],
  });
  const leafValues = trained.map((leaf) => acc[forest.leaves[leaf]!]!);
  const z = trained.length > 1 ? againstOthers(leafValues) : leafValues;

  const sums = trained.map((leaf, i) => {
    const path = pathTo(forest, forest.leaves[leaf]!);
    const ofLeaf = { name: "its leaf against the others", value: z[i]! };
    let before: CreditSum = { terms: [], factors: [] };
    return path.map((node, j): CreditSum => {
      const named = (one: number): Above => ({
        node: one,
        name: one === 0 ? "the prompt's state" : "its parent's state",
      });
      const above = allAncestors
        ? [0, ...path.slice(0, j)].map((one) => ({ ...named(one), name: "a state above" }))
        : [named(forest.nodes[node]!.parent)];
      let own = difference(node, above);
      if (fill && !allAncestors && j > 0 && Math.abs(total(own)) < nothing) {
        const terms = before.terms.map((one) => ({ ...one, name: filledName(one.name) }));
        own = { terms, factors: [] };
      }
      before = own;
      if (bonus === "chain") return { terms: [ofLeaf], factors: [] };
      if (bonus === "orm") return { terms: [...own.terms, ofLeaf], factors: [] };
      if (bonus === "value-only") return { terms: [term("its state", node)], factors: [] };
      if (bonus === "none") return own;
      return { terms: [...own.terms, term("its state again", node)], factors: [] };
    });
  });
  return { sums, state };
}

const ofBefore = " (of the segment before)";
const filledName = (name: string) => (name.endsWith(ofBefore) ? name : name + ofBefore);

/** The paper's: one root for both differences, and nothing filled. */
function byPaper(forest: Forest, options: TreeRlOptions): Valued {
  const { sum, count } = leafSums(forest);
  const mean = sum.map((s, node) => s / count[node]!);
  const sums = (options.trained ?? forest.leaves.map((_, i) => i)).map((leaf) =>
    pathTo(forest, forest.leaves[leaf]!).map((node) => ({
      terms: [
        { name: "mean of the trajectories below", value: mean[node]! },
        { name: "mean of the prompt's trajectories", value: -mean[0]! },
        { name: "mean of the trajectories below, again", value: mean[node]! },
        { name: "mean of its parent's trajectories", value: -mean[forest.nodes[node]!.parent]! },
      ],
      factors: [
        {
          name: "over the root of the trajectories below",
          value: 1 / Math.sqrt(count[node]!),
          from: `1 / √${count[node]}`,
        },
      ],
    })),
  );
  return { sums, state: mean };
}

/** TreeRL's value of every segment, for each trained leaf from the prompt on. */
export function treeRlPaths(
  trees: readonly (readonly Chain[])[],
  options: TreeRlOptions = {},
): { forest: Forest; paths: TreeRlSegment[][] } {
  const forest = forestOf(trees);
  const { leaves, nodes } = forest;
  if (leaves.length < 2) {
    throw new RangeError(
      `Cannot use treerl: a prompt must have at least 2 trajectories to compare, got ${leaves.length}`,
    );
  }
  const chains = forest.chains.map(({ tree, chain }) => trees[tree]![chain]!);
  const { sums, state } =
    options.rule === "paper" ? byPaper(forest, options) : byCode(forest, chains, options);
  const right = nodes.map((): number | undefined => undefined);
  leaves.forEach((node, i) => {
    const { correct, score = 0 } = chains[i]!;
    right[node] = Number(correct ?? score > 0);
  });
  const passed = leafSums({
    nodes: nodes.map(({ parent, tokens }, node) => ({ parent, tokens, score: right[node] })),
  });
  const trained = options.trained ?? leaves.map((_, i) => i);
  const paths = trained.map((leaf, i) =>
    pathTo(forest, leaves[leaf]!).map((node, j): TreeRlSegment => {
      const sum = sums[i]![j]!;
      return {
        node,
        tokens: nodes[node]!.tokens,
        sum,
        value: total(sum),
        state: state[node]!,
        passRatio: passed.sum[node]! / passed.count[node]!,
      };
    }),
  );
  return { forest, paths };
}
