import { estimatorNamed } from "../estimators/registry.js";
import type { Scored } from "../../reward/scored.js";
import type { RolloutTreeData } from "../../rollout/tree/tree-data.js";
import type { BatchSequence, TrainingBatch } from "../batch.js";
import { type MixedOutcomeOptions, mixedOutcomes } from "./mixed-outcomes.js";

/** How much of a batch says anything, and how finely. */
export interface CreditFigures {
  /** Mean size of the advantage of a trained token: 0 where no trajectory differs from its like. */
  informativeMass: number;
  /**
   * Deviation of the advantages inside a trajectory, mean over trajectories: 0 where a trajectory has
   * one for all tokens.
   */
  creditSpread: number;
}

/** What the advantages of a batch are like: how large, and how much they tell a trajectory's tokens apart. */
export function creditFigures(batch: Pick<TrainingBatch, "trajectories">): CreditFigures {
  let [mass, tokens, spread, sequences] = [0, 0, 0, 0];
  for (const { trajectory, advantages } of batch.trajectories) {
    const own = Array.from(advantages).filter((_, t) => trajectory.lossMask[t]);
    if (own.length === 0) continue;
    const mean = own.reduce((a, b) => a + b, 0) / own.length;
    mass += own.reduce((sum, a) => sum + Math.abs(a), 0);
    tokens += own.length;
    // Equal advantages differ by nothing, whatever their mean rounds to.
    if (own.some((a) => a !== own[0])) {
      spread += Math.sqrt(own.reduce((sum, a) => sum + (a - mean) ** 2, 0) / own.length);
    }
    sequences++;
  }
  return {
    informativeMass: tokens === 0 ? 0 : mass / tokens,
    creditSpread: sequences === 0 ? 0 : spread / sequences,
  };
}

/**
 * Tokens that were drawn for trees: those that trajectories share once, tool results and what a fork copied from
 * another tree not at all.
 */
export function generatedTokens(trees: Iterable<Pick<RolloutTreeData, "nodes">>): number {
  let count = 0;
  for (const { nodes } of trees) {
    for (const { kind, tokens, trajectory } of nodes) {
      if (kind === "model" && trajectory >= 0) count += tokens.length;
    }
  }
  return count;
}

function isTrainedOn({ trajectory, advantages }: BatchSequence, estimator: string): boolean {
  if (!trajectory.lossMask.includes(1)) return false;
  return !estimatorNamed(estimator)?.partial || advantages.some((a) => a !== 0);
}

export interface TreeMetricOptions extends MixedOutcomeOptions {
  /** Tokens that were drawn, those of groups that were dropped included. Default: the batch's trees'. */
  generated?: number;
}

/**
 * What a batch of trees gives to learn from, in every run's metrics: how often compared trajectories ended
 * differently (by prompt, and by tree, fork and tool answer where there are such sets), how large and
 * how fine the credit is, and what a leaf cost.
 */
export function treeMetrics(
  scored: Scored,
  batch: Pick<TrainingBatch, "trajectories" | "estimator">,
  options: TreeMetricOptions = {},
): Record<string, number> {
  const { generated = generatedTokens(scored.trees) } = options;
  const found = mixedOutcomes(scored, options);
  const ratios = Object.entries(found).flatMap(([kind, { sets, mixed }]): [string, number][] => {
    const name = `tree/mixed_outcome_ratio${kind === "prompts" ? "" : `_${kind}`}`;
    return sets === 0 ? [] : [[name, mixed / sets]];
  });
  const leaves = new Set(
    batch.trajectories.flatMap((sequence) =>
      isTrainedOn(sequence, batch.estimator)
        ? [`${sequence.trajectory.tree} ${sequence.trajectory.id}`]
        : [],
    ),
  ).size;
  const { informativeMass, creditSpread } = creditFigures(batch);
  return {
    ...Object.fromEntries(ratios),
    "tree/informative_mass": informativeMass,
    "tree/credit_spread": creditSpread,
    ...(leaves === 0 ? {} : { "tree/tokens_per_leaf": generated / leaves }),
  };
}
