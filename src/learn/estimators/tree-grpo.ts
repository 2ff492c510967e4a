import { choice, weight, rulesOf, type ValuesOf } from "../../../common/options/setting.js";
import { familyOf } from "./adapt/credit-trajectories.js";
import { atTurns, perPrompt } from "./adapt/prompt-trees.js";
import { defineEstimator } from "./definition.js";
import {
  checkOptions,
  finite,
  notNegative,
  type OptionRules,
} from "../../../common/options/check-options.js";
import { scores } from "./base/estimator.js";
import type { Rows } from "../masked.js";
import {
  type CreditTree,
  leafSums,
  pathTo,
  type TreeInput,
  Credit,
  type CreditSpan,
  type CreditSum,
  wholeTrajectory,
  short,
  type Norm,
  normTerm,
  overWidth,
  perGroup,
  sampleNorm,
  rlooCredit,
} from "./credit.js";

/** The forms of Tree-GRPO's credit, by the names of its code. */
export const treeGrpoForms = [
  "tree",
  "tree_2norm",
  "tree_inner",
  "tree_per_token",
  "rloo",
  "no_estimator",
] as const;

const treeGrpoSettings = {
  /** Default `tree`: within the prompt plus within the tree. */
  form: choice(treeGrpoForms, "tree", "Which of its estimators"),
  /**
   * What a tree of a single trajectory compares it with: `zero`, nothing, so that it adds nothing; `reward`, as
   * published, the raw reward.
   */
  loneRow: choice(["zero", "reward"], "zero", "What a tree of one trajectory adds"),
};

export interface TreeGrpoOptions extends Partial<ValuesOf<typeof treeGrpoSettings>> {
  epsilon?: number;
}

const treeGrpoRules: OptionRules<TreeGrpoOptions> = {
  ...rulesOf(treeGrpoSettings),
  epsilon: notNegative,
};

/** Trajectories of trees: those of one prompt share a group, those of one tree a tree too. */
export interface TreeTrajectories {
  rewards: Rows;
  /** As published the attention: tool results count, padding does not. */
  mask: Rows;
  groups: readonly (string | number)[];
  trees: readonly (string | number)[];
}

/** The norm of every group of trajectories. */
function norms(groups: readonly (string | number)[], values: readonly number[]) {
  const found = new Map<string | number, Norm & { count: number }>();
  for (const [group, own] of perGroup(groups, values)) {
    found.set(group, { ...sampleNorm(own), count: own.length });
  }
  return (trajectory: number) => found.get(groups[trajectory]!)!;
}

/** The norms over all masked tokens of each group; a pool of one token is its own mean. */
function tokenNorms({ rewards, mask }: TreeTrajectories, groups: readonly (string | number)[]) {
  const pools = new Map<string | number, number[]>();
  groups.forEach((group, trajectory) => {
    const pool = pools.get(group) ?? [];
    for (let t = 0; t < mask[trajectory]!.length; t++)
      if (mask[trajectory]![t]) pool.push(rewards[trajectory]![t]!);
    pools.set(group, pool);
  });
  const found = new Map<string | number, Norm>();
  for (const [group, pool] of pools) {
    found.set(group, pool.length === 1 ? { centre: pool[0]!, width: 1 } : sampleNorm(pool));
  }
  return (trajectory: number) => found.get(groups[trajectory]!)!;
}

function perToken(input: TreeTrajectories, epsilon: number): CreditSpan[][] {
  const prompt = tokenNorms(input, input.groups);
  const tree = tokenNorms(input, input.trees);
  return input.rewards.map((trajectory, i) =>
    Array.from(trajectory, (reward, t) => ({
      start: t,
      end: t + 1,
      sum: {
        terms: [
          normTerm("within the prompt", reward, prompt(i), epsilon),
          normTerm("within the tree", reward, tree(i), epsilon),
        ],
        factors: [],
      },
    })),
  );
}

/** The sum behind each trajectory, for the forms that give all tokens of a trajectory the same. */
function perTrajectory(input: TreeTrajectories, options: Required<TreeGrpoOptions>): CreditSum[] {
  const { form, loneRow, epsilon } = options;
  const score = scores(input.rewards);
  const prompt = norms(input.groups, score);
  const tree = norms(input.trees, score);
  const within = (trajectory: number) =>
    tree(trajectory).count === 1 && loneRow === "zero"
      ? { name: "within the tree", value: 0, from: "the tree's only trajectory" }
      : normTerm("within the tree", score[trajectory]!, tree(trajectory), epsilon);
  if (form === "tree_inner") {
    return score.map((_, trajectory) => ({ terms: [within(trajectory)], factors: [] }));
  }
  if (form === "tree") {
    return score.map((reward, trajectory) => ({
      terms: [
        normTerm("within the prompt", reward, prompt(trajectory), epsilon),
        within(trajectory),
      ],
      factors: [],
    }));
  }
  const once = score.map((r, trajectory) =>
    normTerm("within the prompt", r, prompt(trajectory), epsilon),
  );
  const again = norms(
    input.trees,
    once.map(({ value }) => value),
  );
  return once.map((term, trajectory) => ({
    terms: [term, { name: "the tree's mean of that", value: -again(trajectory).centre }],
    factors: [overWidth("the tree's deviation of that", again(trajectory).width + epsilon)],
  }));
}

/**
 * Tree-GRPO's credit: a trajectory against the trajectories of its prompt, plus against the trajectories of
 * its tree, each over the sample deviation + epsilon.
 */
export function treeGrpo(input: TreeTrajectories, options: TreeGrpoOptions = {}): Credit {
  checkOptions("estimate advantages", options, treeGrpoRules);
  const { form = "tree", loneRow = "zero", epsilon = 1e-6 } = options;
  const { rewards, mask } = input;
  switch (form) {
    case "tree_per_token":
      return new Credit(perToken(input, epsilon), mask);
    case "no_estimator":
      return new Credit(
        rewards.map((trajectory) =>
          Array.from(trajectory, (value, t) => ({
            start: t,
            end: t + 1,
            sum: { terms: [{ name: "the token's reward", value }], factors: [] },
          })),
        ),
        mask,
      );
    case "rloo":
      return rlooCredit(input);
    case "tree":
    case "tree_2norm":
    case "tree_inner": {
      const sums = perTrajectory(input, { form, loneRow, epsilon });
      return new Credit(
        sums.map((sum, trajectory) => wholeTrajectory(mask, trajectory, sum)),
        mask,
      );
    }
  }
}

/**
 * Tree-GRPO's `tree_diff`, which its published runs do not use: how much better a step's trajectories end than
 * its parent's, plus how well they end, over the root of their number. A span's last token and all of
 * the leaf's own step get 0, as in the code.
 */
export function treeDiff(input: TreeInput, { margin = 0.1 } = {}): Credit {
  const { tree, leaves, mask } = input;
  const sumOf = treeDiffSums(tree, margin);
  return new Credit(
    leaves.map((leaf) => {
      let start = 0;
      return pathTo(tree, leaf)
        .slice(0, -1)
        .map((node) => {
          const end = start + tree.nodes[node]!.tokens;
          const span = { start, end: end - 1, sum: sumOf(node) };
          start = end;
          return span;
        });
    }),
    mask,
  );
}

/** What every node below the prompt is worth. */
export function treeDiffSums(tree: CreditTree, margin: number): (node: number) => CreditSum {
  const { sum, count } = leafSums(tree);
  const mean = (node: number) => sum[node]! / count[node]!;
  return (node) => {
    const own = mean(node);
    const above = mean(tree.nodes[node]!.parent);
    return {
      terms: [
        {
          name: "better than its parent",
          value: Math.max(own - above - margin, 0),
          from: `max(${short(own)} - ${short(above)} - ${margin}, 0)`,
        },
        { name: "mean of the trajectories below", value: own },
      ],
      factors: [
        {
          name: "over the root of their number",
          value: 1 / Math.sqrt(count[node]!),
          from: `1 / √${count[node]}`,
        },
      ],
    };
  };
}

/** What the forms of the method's code and `tree_diff`, which puts rewards on steps, have in common. */
export const treeGrpoEstimator = defineEstimator<{ epsilon?: number }>()({
  name: "tree_grpo",
  meaning: "against the prompt's trajectories, plus against its tree's",
  formula: "GRPO within the tree + GRPO across the trees of the prompt",
  settings: {
    ...treeGrpoSettings,
    form: choice([...treeGrpoForms, "tree_diff"], "tree", "Which of its estimators"),
    margin: weight(0.1, "tree_diff: what a step must gain on its parent", finite),
  },
  besides: { epsilon: notNegative },
  preset: {
    name: "tree-grpo",
    update: { loss: "vanilla", klLossCoefficient: 0.001, klLossKind: "low_var_kl" },
  },
  spans(batch, { form, margin, ...rest }) {
    const { trajectories, rewards, groups } = batch;
    if (form === "tree_diff") {
      return perPrompt(batch, atTurns(trajectories), (input) =>
        treeDiff(input, { margin: margin ?? 0.1 }),
      );
    }
    const family = familyOf(trajectories);
    const mask = trajectories.map(({ scored }) => scored.trajectory.attention);
    const input = {
      rewards,
      mask,
      groups,
      trees: trajectories.map((_, trajectory) => family(trajectory)),
    };
    return treeGrpo(input, { ...rest, ...(form ? { form } : {}) }).spans.map((spans) => [...spans]);
  },
});
