import { choice, flag, rulesOf, type ValuesOf } from "../../../common/options/setting.js";
import { lossPresets } from "../losses/registry.js";
import type { CreditTrajectory } from "./adapt/credit-trajectories.js";
import { atTurns, perPrompt } from "./adapt/prompt-trees.js";
import { defineEstimator } from "./definition.js";
import * as exact from "../../base/exact/index.js";
import {
  checkOptions,
  notNegative,
  type OptionRules,
} from "../../../common/options/check-options.js";
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
import { mean } from "./base/estimator.js";

export const at2poValues = ["child_softmax", "child_mean", "leaf_mean"] as const;
export const at2poAdvantages = [
  "node_value",
  "diff_parent",
  "diff_global",
  "diff_localglobal",
  "vanilla",
] as const;

const at2poSettings = {
  /** Normalise the leaves' scores within the tree first. Default: true. */
  normalizeLeaves: flag(true, "Normalise the scores within the tree first"),
  /** What an inner turn is worth. Default `child_softmax`: its children weighed by exp(entropy). */
  value: choice(at2poValues, "child_softmax", "What an inner turn is worth"),
  /** What a turn gets. Default `node_value`: its worth itself. */
  advantage: choice(at2poAdvantages, "node_value", "What a turn gets of that"),
};

export interface At2poOptions extends Partial<ValuesOf<typeof at2poSettings>> {
  epsilon?: number;
}

const at2poRules: OptionRules<At2poOptions> = { ...rulesOf(at2poSettings), epsilon: notNegative };

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

/** The mean surprisal, or entropy, of what the policy wrote last in the turn that ends there. */
function turnSignal(
  { tree, turns, scored }: CreditTrajectory,
  end: number,
  signal: string,
): number {
  const turn = turns.find((one) => one.end === end && one.end > one.start);
  const written = turn?.nodes.map((id) => tree.nodes[id]!).filter(({ kind }) => kind === "model");
  const last = written?.at(-1);
  // What one call wrote is in several nodes where a trajectory left it in the middle.
  const nodes = written?.filter(
    ({ trajectory, round }) => trajectory === last!.trajectory && round === last!.round,
  );
  const values = (nodes ?? []).flatMap((node) =>
    signal === "entropy" ? [...node.entropies] : Array.from(node.logprobs, (p) => -p),
  );
  if (values.length === 0) return 0;
  const mean = values.reduce((sum, v) => sum + v, 0) / values.length;
  if (Number.isFinite(mean)) return mean;
  const what = signal === "entropy" ? "entropies" : "log-probabilities";
  throw new TypeError(
    `Cannot use at2po: value "child_softmax" needs the ${what} of what was drawn, got none in trajectory ${scored.trajectory.id} of ${scored.group}; value "child_mean" and "leaf_mean" do without`,
  );
}

export const at2poEstimator = defineEstimator<{ epsilon?: number }>()({
  name: "at2po",
  meaning: "what the turn's trajectories are worth, weighed by entropy",
  formula: "value of the turn: normalised leaf scores, gathered upwards by a softmax of entropy",
  settings: {
    ...at2poSettings,
    signal: choice(["surprisal", "entropy"], "surprisal", "What child_softmax weighs by"),
  },
  besides: { epsilon: notNegative },
  preset: { name: "at2po", update: lossPresets.at2po },
  spans(batch, { signal = "surprisal", ...rest }) {
    const { trajectories } = batch;
    const weighs =
      (rest.value ?? "child_softmax") === "child_softmax" && rest.advantage !== "vanilla";
    return perPrompt(
      batch,
      atTurns(trajectories),
      (input) => at2po(input, rest),
      weighs ? (trajectory, end) => turnSignal(trajectories[trajectory]!, end, signal) : undefined,
    );
  },
});
