import * as exact from "../../exact/index.js";
import {
  checkOptions,
  notNegative,
  oneOf,
  type OptionRules,
} from "../../../arguments/check-options.js";
import {
  bottomUp,
  childrenOf,
  type CreditTree,
  leavesOf,
  pathSpans,
  type TreeInput,
  Credit,
  type CreditSum,
  type CreditTerm,
  overWidth,
  populationDeviation,
  sampleNorm,
} from "./credit.js";
import { mean } from "../advantage/estimator.js";

export const at2poValues = ["child_softmax", "child_mean", "leaf_mean"] as const;
export const at2poAdvantages = [
  "node_value",
  "diff_parent",
  "diff_global",
  "diff_localglobal",
  "vanilla",
] as const;

export interface At2poOptions {
  /** Normalise the leaves' scores within the tree first. Default: true. */
  normalizeLeaves?: boolean;
  /** What an inner turn is worth. Default `child_softmax`: its children weighed by exp(entropy). */
  value?: (typeof at2poValues)[number];
  /** What a turn gets. Default `node_value`: its worth itself. */
  advantage?: (typeof at2poAdvantages)[number];
  epsilon?: number;
}

export const at2poRules: OptionRules<At2poOptions> = {
  normalizeLeaves: "boolean?",
  value: oneOf(at2poValues),
  advantage: oneOf(at2poAdvantages),
  epsilon: notNegative,
};

/** What every node is worth. */
export function at2poNodeValues(
  tree: CreditTree,
  { normalizeLeaves = true, value = "child_softmax", epsilon = 1e-6 }: At2poOptions = {},
): number[] {
  const { nodes } = tree;
  const children = childrenOf(tree);
  const leaves = leavesOf(tree, children);
  const scores = leaves.map((leaf) => nodes[leaf]!.score!);
  const [centre, width] = normalizeLeaves
    ? [mean(scores), populationDeviation(scores) + epsilon]
    : [0, 1];
  const leafValue = (node: number) => {
    const { score } = nodes[node]!;
    return score === undefined ? 0 : (score - centre) / width;
  };
  if (value === "leaf_mean") {
    return nodes.map((_, node) => {
      const below = leavesOf({ nodes }, children, node);
      return below.length === 0 ? 0 : mean(below.map(leafValue));
    });
  }
  return bottomUp(tree, leafValue, (_, own, values) => {
    if (value === "child_mean") return mean(values);
    const weights = own.map((child) => exact.exp(nodes[child]!.entropy!));
    const all = weights.reduce((sum, w) => sum + w, 0);
    return weights.reduce((sum, w, i) => sum + (w / all) * values[i]!, 0);
  });
}

/** The terms of what a turn gets. */
function termsOf(
  kind: Exclude<At2poOptions["advantage"], undefined | "vanilla">,
  [own, parent, root]: readonly [number, number, number],
): CreditTerm[] {
  const worth = { name: "the turn's worth", value: own };
  const local = { name: "its parent's worth", value: -parent };
  const global = { name: "the prompt's worth", value: -root };
  switch (kind) {
    case "node_value":
      return [worth];
    case "diff_parent":
      return [worth, local];
    case "diff_global":
      return [worth, global];
    case "diff_localglobal":
      return [worth, local, { ...worth, name: "its worth again" }, global];
  }
}

/**
 * AT2PO's credit: every turn of a tree gets what its trajectories are worth, the leaves' scores normalised
 * within the tree and gathered upwards by weights of exp(entropy).
 */
export function at2po(input: TreeInput, options: At2poOptions = {}): Credit {
  checkOptions("estimate advantages", options, at2poRules);
  const { tree, leaves, mask } = input;
  const { value = "child_softmax", advantage = "node_value", epsilon = 1e-6 } = options;
  const { nodes } = tree;
  if (advantage === "vanilla") {
    const scores = leaves.map((leaf) => nodes[leaf]!.score!);
    const { centre, width } = sampleNorm(scores);
    return new Credit(
      leaves.map((leaf) =>
        pathSpans(tree, leaf, () => ({
          terms: [
            { name: "reward", value: nodes[leaf]!.score! },
            { name: "mean of the tree's trajectories", value: -centre },
          ],
          factors: [overWidth("their deviation", width + epsilon)],
        })),
      ),
      mask,
    );
  }
  const bare = nodes.findIndex(({ entropy }, node) => node > 0 && entropy === undefined);
  if (value === "child_softmax" && bare >= 0) {
    throw new TypeError(
      `Cannot use at2po: value "child_softmax" needs every turn's entropy, got none for turn ${bare}; value "child_mean" and "leaf_mean" do without`,
    );
  }
  const values = at2poNodeValues(tree, options);
  const sums = nodes.map(({ parent }, node): CreditSum => ({
    terms: termsOf(advantage, [values[node]!, values[Math.max(0, parent)]!, values[0]!]),
    factors: [],
  }));
  return new Credit(
    leaves.map((leaf) => pathSpans(tree, leaf, (node) => sums[node]!)),
    mask,
  );
}
