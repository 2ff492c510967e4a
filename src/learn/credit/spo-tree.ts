import {
  checkOptions,
  notNegative,
  oneOf,
  type OptionRules,
} from "../../arguments/check-options.js";
import { mean } from "../advantage/estimator.js";
import { bottomUp, childrenOf, type CreditTree, pathSpans, type TreeInput } from "./credit-tree.js";
import { Credit, type CreditSum, total } from "./credit.js";
import { overWidth, populationDeviation } from "./group-norm.js";

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
export interface SpoEdge {
  node: number;
  parent: number;
  advantage: number;
  /** How much likelier the best of four is right. */
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
