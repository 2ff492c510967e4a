import {
  checkOptions,
  integer,
  type OptionRules,
  share,
  notNegative,
  oneOf,
} from "../../../arguments/check-options.js";
import { mean } from "../advantage/estimator.js";
import type { Rows } from "../advantage/masked.js";
import {
  bottomUp,
  childrenOf,
  type CreditTree,
  pathSpans,
  type TreeInput,
  Credit,
  type CreditSpan,
  type CreditSum,
  total,
  overWidth,
  populationDeviation,
} from "./credit.js";

/** A place in a trajectory whose value was estimated by rollouts that start behind it. */
export interface CutPoint {
  /** The last token before it; -1 is the prompt. */
  token: number;
  value: number;
}

export interface SpoChainInput {
  mask: Rows;
  /** The probability of every token when it was drawn. */
  probabilities: Rows;
  outcomes: readonly number[];
  /** Per trajectory, from left to right. */
  cuts: readonly (readonly CutPoint[])[];
}

export interface SpoChainOptions {
  /** Tokens drawn with a greater probability get nothing. Default: 0.9. */
  threshold?: number;
}

export const spoChainRules: OptionRules<SpoChainOptions> = { threshold: share };

/**
 * Where SPO cuts a trajectory: before every token that was drawn with a probability below the threshold, of
 * these every `interval`-th.
 */
export function spoCutPoints(
  probabilities: ArrayLike<number>,
  options: { interval?: number; threshold?: number } = {},
): number[] {
  checkOptions("cut a trajectory", options, { interval: integer(1), ...spoChainRules });
  const { interval = 5, threshold = 0.9 } = options;
  return Array.from(probabilities, (p, t) => (p < threshold ? t - 1 : NaN))
    .filter((t) => !Number.isNaN(t))
    .filter((_, i) => i % interval === 0);
}

/**
 * SPO's credit for chains: a segment between two cut points gets what its end is worth more than its
 * start; the trajectory's end is worth its reward. Tokens that were all but certain get nothing.
 */
export function spoChain(input: SpoChainInput, options: SpoChainOptions = {}): Credit {
  checkOptions("estimate advantages", options, spoChainRules);
  const { threshold = 0.9 } = options;
  const { mask, probabilities, outcomes, cuts } = input;
  const spans = mask.map((own, trajectory): CreditSpan[] => {
    const [first, ...rest] = cuts[trajectory]!;
    if (!first) return [];
    const ends = [...rest, { token: own.length - 1, value: outcomes[trajectory]! }];
    const sure = (t: number) => probabilities[trajectory]![t]! > threshold;
    let before = first;
    return ends.flatMap((cut, i) => {
      const last = i === rest.length;
      const sum = {
        terms: [
          { name: last ? "reward" : "worth at its end", value: cut.value },
          { name: "worth at its start", value: -before.value },
        ],
        factors: [],
      };
      const span = { start: before.token + 1, end: cut.token + 1, sum };
      before = cut;
      return runs(span, sure).map((run) => (sure(run.start) ? { ...run, sum: certain } : run));
    });
  });
  return new Credit(spans, mask);
}

const certain: CreditSum = { terms: [{ name: "all but certain", value: 0 }], factors: [] };

/** A span cut wherever the answer to a question changes. */
function runs(span: CreditSpan, ask: (token: number) => boolean): CreditSpan[] {
  const found: CreditSpan[] = [];
  for (let start = span.start; start < span.end;) {
    let end = start + 1;
    while (end < span.end && ask(end) === ask(start)) end++;
    found.push({ start, end, sum: span.sum });
    start = end;
  }
  return found;
}

export interface SpoTreeOptions {
  /** `rloo`: child - parent. `grpo`: that over the deviation of the parent's children. Default `rloo`. */
  form?: "rloo" | "grpo";
  /** Edges that say nothing, neither here nor to the prover, get no credit. Default: true. */
  onlyNonzero?: boolean;
  epsilon?: number;
}

export const spoTreeRules: OptionRules<SpoTreeOptions> = {
  form: oneOf(["rloo", "grpo"]),
  onlyNonzero: "boolean?",
  epsilon: notNegative,
};

/** An edge of SPO's tree, from a node to the one above it. */
interface SpoEdge {
  node: number;
  parent: number;
  advantage: number;
  /** How much more likely the best of four is right. */
  prover: number;
  leaf: boolean;
  sum: CreditSum;
}

const best = 4;

/** Every node's value, the mean of its children's. */
export function spoValues(tree: CreditTree): number[] {
  return bottomUp(
    tree,
    (node) => tree.nodes[node]!.score ?? 0,
    (_, __, values) => mean(values),
  );
}

/** The edges of a tree, depth first. */
export function spoEdges(tree: CreditTree, options: SpoTreeOptions = {}): SpoEdge[] {
  const { form = "rloo", onlyNonzero = true, epsilon = 1e-8 } = options;
  const values = spoValues(tree);
  const children = childrenOf(tree);
  const edges: SpoEdge[] = [];
  const open = [...children[0]!].reverse();
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    open.push(...[...children[node]!].reverse());
    const { parent } = tree.nodes[node]!;
    const [own, above] = [values[node]!, values[parent]!];
    const width = populationDeviation(children[parent]!.map((child) => values[child]!));
    const sum = {
      terms: [
        { name: "worth of the segment", value: own },
        { name: "worth of its parent", value: -above },
      ],
      factors: form === "grpo" ? [overWidth("its siblings' deviation", width + epsilon)] : [],
    };
    const advantage = total(sum);
    const prover = 1 - (1 - own) ** best - (1 - (1 - above) ** best);
    if (onlyNonzero && advantage + prover === 0) continue;
    edges.push({ node, parent, advantage, prover, leaf: children[node]!.length === 0, sum });
  }
  return edges;
}

/** SPO's credit for trees: a segment gets what it is worth more than the segment before it. */
export function spoTree(input: TreeInput, options: SpoTreeOptions = {}): Credit {
  checkOptions("estimate advantages", options, spoTreeRules);
  const sums = new Map(spoEdges(input.tree, options).map(({ node, sum }) => [node, sum]));
  const none: CreditSum = { terms: [{ name: "says nothing", value: 0 }], factors: [] };
  return new Credit(
    input.leaves.map((leaf) => pathSpans(input.tree, leaf, (node) => sums.get(node) ?? none)),
    input.mask,
  );
}
