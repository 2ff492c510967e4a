import { integer } from "../../../common/options/check-options.js";
import { choice, countOrAll, flag, share, type ValuesOf } from "../../../common/options/setting.js";
import { Random } from "../../base/random/random.js";
import { prompts, trajectoryFinder } from "./adapt/credit-trajectories.js";
import { type Chain, chainsOf, type Forest, forestOf, wasCut } from "./adapt/forest.js";
import {
  bottomUp,
  type CreditSpan,
  type CreditSum,
  type CreditTerm,
  leafSums,
  pathTo,
  short,
  total,
} from "./credit.js";
import { defineEstimator } from "./definition.js";

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

const treeRlSettings = {
  /** `paper`: [(V - V(prompt)) + (V - V(parent))] / √leaves. Default `code`. */
  rule: choice(["code", "paper"], "code", "The published code's sums or the paper's"),
  /** What a segment's sum is divided by, of the trained leaves below it. Default `sqrt`. */
  weights: choice(treeRlWeights, "sqrt", "What a segment's sum is divided by"),
  /** Takes a mean over segments, or over their tokens, off all sums. Default `none`. */
  centre: choice(treeRlCentres, "none", "What mean is taken off all sums"),
  /** What is added to the difference to the parent, or stands instead of it. Default `state`. */
  bonus: choice(treeRlBonuses, "state", "What is added to the difference to the parent"),
  /** A segment of value 0 gets its predecessor's. Default: true, as published. */
  fill: flag(true, "A segment of value 0 gets its predecessor's"),
  /** Inner sums are means over the children. Default: false. */
  averageChildren: flag(false, "Inner sums are means over the children"),
  /** Trajectories that were cut count -1 among the leaves. Default: false. */
  penalizeCut: flag(false, "Trajectories that were cut count -1 among the leaves"),
  /** The mean difference to all segments above, and nothing else, in place of all that. Default: false. */
  allAncestors: flag(false, "Differences to all segments above, and nothing else"),
};

export interface TreeRlOptions extends Partial<ValuesOf<typeof treeRlSettings>> {
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

export const treeRlEstimator = defineEstimator<{
  /** For the draw of `leaves`. */
  seed?: number;
}>()({
  name: "treerl",
  meaning: "against its parent and the prompt, over √trajectories",
  formula: "(value - root value) + (value - parent's value), of a segment, over √leaves",
  settings: {
    ...treeRlSettings,
    leaves: countOrAll("Trajectories of a prompt that are trained on; null: all"),
    balance: share(0, "The share of them that is right, and as many wrong"),
    punishCut: flag(true, "Trajectories that were cut get -1 on every token"),
  },
  besides: { seed: integer(0) },
  partial: true,
  preset: { name: "treerl" },
  variants: [{ name: "paper", settings: { rule: "paper" } }],
  spans({ trajectories }, { leaves, balance, seed = 1, punishCut = true, ...rest }) {
    const out: CreditSpan[][] = trajectories.map(() => []);
    const find = trajectoryFinder(trajectories);
    for (const own of prompts(trajectories)) {
      const { trees, members } = chainsOf(trajectories, own);
      const all = members.flat().filter((trajectory) => trajectory >= 0).length;
      const { group } = trajectories[own[0]!]!;
      const random = Random.from(seed).split("treerl").split(group);
      const right = (order: readonly { tree: number; chain: number }[]) =>
        order.map(({ tree, chain }) => trees[tree]![chain]!.score! > 0);
      const first = treeRlPaths(trees, rest);
      const trained =
        leaves === undefined || leaves >= all
          ? undefined
          : chooseLeaves(right(first.forest.chains), leaves, random, balance);
      const { forest, paths } = trained ? treeRlPaths(trees, { ...rest, trained }) : first;
      paths.forEach((path, i) => {
        const { tree, chain } = forest.chains[trained ? trained[i]! : i]!;
        const trajectory = members[tree]![chain]!;
        let start = 0;
        out[trajectory] = path.flatMap(({ tokens, sum }) => {
          const span = { start, end: start + tokens, sum };
          start += tokens;
          return tokens > 0 ? [span] : [];
        });
        if (punishCut && wasCut(trajectories[trajectory]!)) {
          const terms = [{ name: "cut before its end", value: -1 }];
          out[trajectory] = [
            { start: 0, end: trajectories[trajectory]!.length, sum: { terms, factors: [] } },
          ];
        }
      });
    }
    trajectories.forEach(({ tree, scored }, trajectory) => {
      const same = find(tree, scored.trajectory.id);
      if (same !== trajectory) out[trajectory] = out[same]!;
    });
    return out;
  },
});
