import { deviation, mean, type Outcome, scores } from "./base/estimator.js";
import type { Rows } from "../masked.js";

/** A number that goes into an advantage. */
export interface CreditTerm {
  name: string;
  value: number;
  /** How it came about, in numbers. */
  from?: string;
}

/** What made an advantage: the sum of the terms, times every factor. */
export interface CreditSum {
  terms: readonly CreditTerm[];
  factors: readonly CreditTerm[];
}

/** Tokens of a trajectory that got their advantage by one sum, from `start` up to but without `end`. */
export interface CreditSpan {
  start: number;
  end: number;
  sum: CreditSum;
}

/** The advantage that a sum gives. */
export function total({ terms, factors }: CreditSum): number {
  const sum = terms.reduce((all, { value }) => all + value, 0);
  return factors.reduce((all, { value }) => all * value, sum);
}

/** Advantages per trajectory and token, with the sum behind each. */
export class Credit {
  readonly advantages: Float64Array[];

  constructor(
    /** One list per trajectory, in order of tokens; tokens between spans have no credit. */
    readonly spans: readonly (readonly CreditSpan[])[],
    mask: Rows,
  ) {
    this.advantages = spans.map((list, trajectory) => {
      const own = mask[trajectory]!;
      const out = new Float64Array(own.length);
      for (const { start, end, sum } of list) {
        const value = total(sum);
        const stop = Math.min(end, own.length);
        for (let t = start; t < stop; t++) out[t] = value * own[t]!;
      }
      return out;
    });
  }

  /** The sum behind a token's advantage; undefined where it has none. */
  explain(trajectory: number, token: number): CreditSum | undefined {
    return this.spans[trajectory]?.find(({ start, end }) => start <= token && token < end)?.sum;
  }
}

/** A whole trajectory under one sum. */
export function wholeTrajectory(mask: Rows, trajectory: number, sum: CreditSum): CreditSpan[] {
  return [{ start: 0, end: mask[trajectory]!.length, sum }];
}

/** A number as it stands in a sum that is shown. */
export const short = (value: number): string => String(Number(value.toPrecision(4)));

/** A span of a tree as credit rules read it. */
export interface CreditNode {
  /** The node it continues, by its place in the list; -1 for the prompt. */
  parent: number;
  /** Tokens it adds to a trajectory. */
  tokens: number;
  /** The reward of the trajectory that ends here; inner nodes have none. */
  score?: number;
  /** What children are weighed by: the mean surprisal of what the model wrote last in it. */
  entropy?: number;
}

/** A prompt and everything below it: parents come before their children, the first node is the prompt. */
export interface CreditTree {
  nodes: readonly CreditNode[];
}

/** A tree and its trajectories, for credit that stands on nodes. */
export interface TreeInput {
  tree: CreditTree;
  /** The leaf that each trajectory ends at. */
  leaves: readonly number[];
  /** One list per trajectory, as long as its tokens. */
  mask: Rows;
}

/** The children of every node, in the order of creation. */
export function childrenOf({ nodes }: CreditTree): number[][] {
  const children: number[][] = nodes.map(() => []);
  nodes.forEach(({ parent }, node) => {
    if (parent >= 0) children[parent]!.push(node);
  });
  return children;
}

/** The nodes from below the prompt to a node, that node included. */
export function pathTo({ nodes }: CreditTree, node: number): number[] {
  const path: number[] = [];
  for (let at = node; nodes[at]!.parent >= 0; at = nodes[at]!.parent) path.push(at);
  return path.reverse();
}

/** The nodes below one, that one included, level by level. */
function breadthFirst(children: readonly (readonly number[])[], from = 0): number[] {
  const order = [from];
  // The list grows while it is walked.
  for (const node of order) order.push(...children[node]!);
  return order;
}

/** The leaves below a node, level by level. */
export function leavesOf(
  { nodes }: CreditTree,
  children: readonly (readonly number[])[],
  from = 0,
): number[] {
  return breadthFirst(children, from).filter((node) => nodes[node]!.score !== undefined);
}

/** Sum and number of the leaves' scores below every node. */
export function leafSums({ nodes }: CreditTree): { sum: number[]; count: number[] } {
  const sum = nodes.map(({ score = 0 }) => score);
  const count = nodes.map(({ score }) => (score === undefined ? 0 : 1));
  for (let node = nodes.length - 1; node > 0; node--) {
    const { parent } = nodes[node]!;
    sum[parent]! += sum[node]!;
    count[parent]! += count[node]!;
  }
  return { sum, count };
}

/** What each node's value is when an inner one's comes from its children's. */
export function bottomUp<T>(
  tree: CreditTree,
  leaf: (node: number) => T,
  inner: (node: number, children: readonly number[], values: readonly T[]) => T,
): T[] {
  const children = childrenOf(tree);
  const values: T[] = [];
  for (let node = tree.nodes.length - 1; node >= 0; node--) {
    const own = children[node]!;
    values[node] =
      own.length === 0
        ? leaf(node)
        : inner(
            node,
            own,
            own.map((child) => values[child]!),
          );
  }
  return values;
}

/**
 * A trajectory's tokens by the nodes on its path, each with its own sum; nodes that add nothing are
 * left out.
 */
export function pathSpans(
  tree: CreditTree,
  leaf: number,
  sumOf: (node: number) => CreditSum,
): CreditSpan[] {
  let at = 0;
  return pathTo(tree, leaf).flatMap((node) => {
    const start = at;
    at += tree.nodes[node]!.tokens;
    return at > start ? [{ start, end: at, sum: sumOf(node) }] : [];
  });
}

/** A group's centre and what its values are divided by, without the epsilon. */
export interface Norm {
  centre: number;
  width: number;
}

/** Mean and sample deviation; a group of one has mean 0 and deviation 1, so its value stays. */
export function sampleNorm(values: readonly number[]): Norm {
  return values.length === 1
    ? { centre: 0, width: 1 }
    : { centre: mean(values), width: deviation(values) };
}

/** Population deviation, n in the denominator. */
export function populationDeviation(values: readonly number[]): number {
  const centre = mean(values);
  return Math.sqrt(values.reduce((sum, v) => sum + (v - centre) ** 2, 0) / values.length);
}

/** (value - centre) / (width + epsilon), as a term. */
export function normTerm(
  name: string,
  value: number,
  { centre, width }: Norm,
  epsilon: number,
): CreditTerm {
  return {
    name,
    value: (value - centre) / (width + epsilon),
    from: `(${short(value)} - ${short(centre)}) / ${short(width + epsilon)}`,
  };
}

/** A division, as a factor. */
export function overWidth(name: string, width: number): CreditTerm {
  return { name: `over ${name}`, value: 1 / width, from: `1 / ${short(width)}` };
}

/** The values of every group, in the order of trajectories. */
export function perGroup<T>(
  groups: readonly (string | number)[],
  values: readonly T[],
): Map<string | number, T[]> {
  const found = new Map<string | number, T[]>();
  groups.forEach((group, i) => {
    const list = found.get(group);
    if (list) list.push(values[i]!);
    else found.set(group, [values[i]!]);
  });
  return found;
}

/** One sum per trajectory, from the trajectory's score and its group's scores. */
function perTrajectory(
  { rewards, mask, groups }: Outcome,
  sumOf: (score: number, group: readonly number[]) => CreditSum,
): Credit {
  const score = scores(rewards);
  const pools = perGroup(groups, score);
  return new Credit(
    score.map((own, trajectory) =>
      wholeTrajectory(mask, trajectory, sumOf(own, pools.get(groups[trajectory]!)!)),
    ),
    mask,
  );
}

/** GRPO's advantages with their sums. */
export function grpoCredit(
  input: Outcome,
  { epsilon = 1e-6, normalizeByDeviation = true } = {},
): Credit {
  return perTrajectory(input, (own, group) => {
    const { centre, width } = sampleNorm(group);
    return {
      terms: [
        { name: "reward", value: own },
        { name: "mean of the prompt's trajectories", value: -centre },
      ],
      factors: normalizeByDeviation ? [overWidth("their deviation", width + epsilon)] : [],
    };
  });
}

/** RLOO's advantages with their sums. */
export function rlooCredit(input: Outcome): Credit {
  return perTrajectory(input, (own, group) => {
    const n = group.length;
    if (n === 1) return { terms: [{ name: "reward", value: own }], factors: [] };
    return {
      terms: [
        { name: "reward", value: own },
        { name: "mean of the prompt's trajectories", value: -sampleNorm(group).centre },
      ],
      factors: [{ name: "n / (n - 1)", value: n / (n - 1), from: `${n} / ${n - 1}` }],
    };
  });
}

/** MaxRL's advantages with their sums. */
export function relativeCredit(input: Outcome): Credit {
  return perTrajectory(input, (own, group) => {
    const centre = mean(group);
    if (group.length === 1 || centre <= 0) {
      const why = group.length === 1 ? "alone" : "the group's mean is not above 0";
      return { terms: [{ name: "reward", value: 0, from: why }], factors: [] };
    }
    return {
      terms: [
        { name: "reward", value: own },
        { name: "mean of the prompt's trajectories", value: -centre },
      ],
      factors: [overWidth("their mean", centre)],
    };
  });
}
