import { bottomUp, leafSums, pathTo } from "./credit-tree.js";
import { type CreditSum, type CreditTerm, short, total } from "./credit.js";
import { type Chain, type Forest, forestOf } from "./treerl-forest.js";

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
  /** Rows that were cut count -1 among the leaves. Default: false. */
  penalizeCut?: boolean;
  /** The mean difference to all segments above, and nothing else, in place of all that. Default: false. */
  allAncestors?: boolean;
  /** Leaves that are trained on, by their number in the forest. Default: all. */
  trained?: readonly number[];
}

/** One segment on the way to a leaf, with what each of its tokens gets. */
export interface TreeRlSegment {
  node: number;
  tokens: number;
  sum: CreditSum;
  value: number;
  state: number;
  /** The share of right rows below it. */
  passRatio: number;
}

/** Values below this count as 0 and are filled. */
const nothing = 1e-8;

/** A sum for each segment on the way to each trained leaf, and every node's state. */
interface Valued {
  sums: CreditSum[][];
  state: number[];
}

const empty: CreditSum = { terms: [], factors: [] };

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
  const raw = againstOthers(chains.map(({ score }) => score));
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

const divisors: Record<(typeof treeRlWeights)[number], (n: number) => number> = {
  sqrt: Math.sqrt,
  uniform: (n) => n,
  original: () => 1,
};

/** The code's value of every segment on the way to each trained leaf. */
function byCode(forest: Forest, chains: readonly Chain[], options: TreeRlOptions): Valued {
  const { weights = "sqrt", fill = true, allAncestors = false, averageChildren } = options;
  const bonus = allAncestors ? "none" : (options.bonus ?? "state");
  const trained = options.trained ?? forest.leaves.map((_, i) => i);
  const { acc: plain, leaves } = accumulate(forest, chains, options);
  const below = countTrained(forest, trained);
  const divisor = below.map((n) => (n > 0 ? divisors[weights](n) : 1));
  const acc = plain.map((a, node) => a / divisor[node]!);
  // Averaged sums are means already.
  const rows = averageChildren ? leaves.map(() => 1) : leaves;
  const state = acc.map((a, node) => a / rows[node]!);
  const term = (name: string, node: number, sign = 1): CreditTerm => ({
    name,
    value: sign * state[node]!,
    from: [sign * plain[node]!, divisor[node]!, rows[node]!].map(short).join(" / "),
  });
  const z = againstOthers(trained.map((leaf) => acc[forest.leaves[leaf]!]!));

  const sums = trained.map((leaf, i) => {
    const path = pathTo(forest, forest.leaves[leaf]!);
    let before = empty;
    return path.map((node, j) => {
      const { parent } = forest.nodes[node]!;
      const above = allAncestors ? [0, ...path.slice(0, j)] : [parent];
      const local: CreditSum = {
        terms: [
          term("its state", node),
          ...above.map((one) => {
            const { value, ...rest } = term(
              one === 0 ? "the prompt's" : `a segment's above`,
              one,
              -1,
            );
            return { ...rest, value: value / above.length };
          }),
        ],
        factors: [],
      };
      const filled = fill && !allAncestors && j > 0 && Math.abs(total(local)) < nothing;
      const value = filled ? before : local;
      before = value;
      const whole = trained.length > 1 ? z[i]! : acc[forest.leaves[leaf]!]!;
      const leafTerm = { name: "its leaf against the others", value: whole };
      const named = filled
        ? value.terms.map((one) => ({ ...one, name: `${one.name} (of the segment before)` }))
        : value.terms;
      if (bonus === "chain") return { terms: [leafTerm], factors: [] };
      if (bonus === "orm") return { terms: [...named, leafTerm], factors: [] };
      if (bonus === "state") {
        return { terms: [...named, term("its state again", node)], factors: [] };
      }
      if (bonus === "value-only") return { terms: [term("its state", node)], factors: [] };
      return { terms: named, factors: [] };
    });
  });
  return { sums, state };
}

/** The paper's: one root for both differences, and nothing filled. */
function byPaper(forest: Forest, options: TreeRlOptions): Valued {
  const { sum, count } = leafSums(forest);
  const mean = sum.map((s, node) => s / count[node]!);
  const sums = (options.trained ?? forest.leaves.map((_, i) => i)).map((leaf) =>
    pathTo(forest, forest.leaves[leaf]!).map((node) => ({
      terms: [
        { name: "mean of the rows below", value: mean[node]! },
        { name: "mean of the prompt's rows", value: -mean[0]! },
        { name: "mean of the rows below, again", value: mean[node]! },
        { name: "mean of its parent's rows", value: -mean[forest.nodes[node]!.parent]! },
      ],
      factors: [
        {
          name: "over the root of the rows below",
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
      `Cannot use treerl: a prompt must have at least 2 rows to compare, got ${leaves.length}`,
    );
  }
  const chains = forest.chains.map(({ tree, chain }) => trees[tree]![chain]!);
  const { sums, state } =
    options.rule === "paper" ? byPaper(forest, options) : byCode(forest, chains, options);
  const right = nodes.map((): number | undefined => undefined);
  leaves.forEach((node, i) => {
    const { correct, score } = chains[i]!;
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
