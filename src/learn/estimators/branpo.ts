import { choice, flag, rulesOf, type ValuesOf } from "../../../common/options/setting.js";
import {
  checkOptions,
  notNegative,
  type OptionRules,
} from "../../../common/options/check-options.js";
import { branpoPreference } from "../../rollout/rules/branpo.js";
import {
  type CreditBatch,
  type CreditTrajectory,
  familyOf,
  sharedTokens,
  trajectoryFinder,
} from "./adapt/credit-trajectories.js";
import { mean } from "./base/estimator.js";
import type { Rows } from "../masked.js";
import {
  Credit,
  type CreditSpan,
  type CreditSum,
  type Norm,
  overWidth,
  perGroup,
  sampleNorm,
} from "./credit.js";
import { defineEstimator } from "./definition.js";

export interface BranpoInput {
  /** The tokens before a tree's fork, in one of its branches, and those behind it. */
  prefix: Rows;
  branch: Rows;
  /** The mean reward of the tree's branches, and the branch's own. */
  treeRewards: readonly number[];
  rewards: readonly number[];
  /** 1 for a branch that is preferred to the other of its tree, -1 for one that is not, 0 without another. */
  preferences: readonly number[];
  groups: readonly (string | number)[];
}

const settings = {
  normalizeByDeviation: flag(true, "Divide by the group's deviation"),
  /**
   * What one that is alone in its group gets: `zero`, nothing to compare with; `reward`, as published, its reward.
   */
  loneRow: choice(["zero", "reward"], "zero", "What one that is alone in its prompt gets"),
};

export interface BranpoOptions extends Partial<ValuesOf<typeof settings>> {
  epsilon?: number;
}

const rules: OptionRules<BranpoOptions> = { ...rulesOf(settings), epsilon: notNegative };

const any = (row: ArrayLike<number>) => Array.from(row).some((m) => m > 0);

/** From the first token that counts to behind the last. */
function within(row: ArrayLike<number>): { start: number; end: number } {
  const marks = Array.from(row, (m) => Number(m > 0));
  return { start: marks.indexOf(1), end: marks.lastIndexOf(1) + 1 };
}

/**
 * BranPO's credit: tokens before the fork by the mean reward of their tree among those of the prompt, tokens behind it by
 * the branch's reward among all branches of the prompt; a branch that is not preferred gains nothing.
 */
export function branpo(input: BranpoInput, options: BranpoOptions = {}): Credit {
  checkOptions("estimate advantages", options, rules);
  const { normalizeByDeviation = true, loneRow = "zero", epsilon = 1e-6 } = options;
  const { prefix, branch, treeRewards, rewards, preferences, groups } = input;
  const sums = (mask: Rows, values: readonly number[], what: string) => {
    const counted = values.flatMap((_, i) => (any(mask[i]!) ? [i] : []));
    const pools = perGroup(
      counted.map((i) => groups[i]!),
      counted.map((i) => values[i]!),
    );
    const norms = new Map<string | number, Norm>();
    for (const [group, pool] of pools) norms.set(group, sampleNorm(pool));
    return (i: number): CreditSum => {
      const { centre, width } = norms.get(groups[i]!)!;
      const alone = loneRow === "zero" && pools.get(groups[i]!)!.length === 1;
      return {
        terms: [
          { name: "reward", value: values[i]! },
          { name: `mean of the prompt's ${what}`, value: -centre },
        ],
        factors: [
          ...(normalizeByDeviation ? [overWidth("their deviation", width + epsilon)] : []),
          ...(alone ? [{ name: "alone", value: 0 }] : []),
        ],
      };
    };
  };
  const before = sums(prefix, treeRewards, "trees");
  const behind = sums(branch, rewards, "branches");
  const spans = rewards.map((_, i): CreditSpan[] => {
    const out: CreditSpan[] = [];
    if (any(prefix[i]!)) out.push({ ...within(prefix[i]!), sum: before(i) });
    if (any(branch[i]!)) out.push({ ...within(branch[i]!), sum: notPreferred(behind(i), i) });
    return out;
  });
  function notPreferred(sum: CreditSum, i: number): CreditSum {
    const gains = sum.terms.reduce((all, { value }) => all + value, 0) > 0;
    if (preferences[i]! >= 0 || !gains) return sum;
    return {
      ...sum,
      factors: [...sum.factors, { name: "the other branch is preferred", value: 0 }],
    };
  }
  const mask = prefix.map((row, i) => Array.from(row, (m, t) => Math.max(m, branch[i]![t]!)));
  return new Credit(spans, mask);
}

/** Where a trajectory that no branch is scored of is cut: at the last attempt to leave it, or 2 turns before its end. */
function lastCut({ tree, scored, turns }: CreditTrajectory): number {
  const { id } = scored.trajectory;
  const last = tree.trajectories.findLast(({ parent }) => parent === id);
  if (last) return sharedTokens(tree)[last.id]!;
  return turns[turns.length - 2]?.start ?? 0;
}

/** Trees of scored trajectories as the credit reads them. In a tree of more branches the prefix ends at the first fork. */
function inputOf({ trajectories, mask, groups }: CreditBatch): BranpoInput {
  const family = familyOf(trajectories);
  const trees = perGroup(
    trajectories.map((_, i) => family(i)),
    trajectories.map((_, i) => i),
  );
  const find = trajectoryFinder(trajectories);
  const input = {
    ...{ prefix: [] as number[][], branch: [] as number[][], treeRewards: [] as number[] },
    ...{ rewards: trajectories.map(({ reward }) => reward), preferences: [] as number[], groups },
  };
  const ended = (i: number) => {
    const { reward, turns } = trajectories[i]!;
    return { reward, steps: turns.length };
  };
  for (const own of trees.values()) {
    const branches = own.filter((i) => !trajectories[i]!.initial);
    const cut =
      branches.length === 0
        ? lastCut(trajectories[own[0]!]!)
        : Math.min(...branches.map((i) => trajectories[i]!.shared));
    own.forEach((i, place) => {
      const row = Array.from(mask[i]!);
      input.prefix[i] = row.map((m, t) => (place === 0 && t < cut ? m : 0));
      input.branch[i] = row.map((m, t) => (t >= cut ? m : 0));
      input.treeRewards[i] = mean(own.map((j) => trajectories[j]!.reward));
      input.preferences[i] = 0;
    });
    for (const i of branches) {
      const first = find(trajectories[i]!.tree, trajectories[i]!.parent);
      if (first < 0) continue;
      const preference = branpoPreference(ended(first), ended(i), true);
      input.preferences[i] = preference;
      if (preference !== 0) input.preferences[first] = -preference;
    }
  }
  return input;
}

export const branpoEstimator = defineEstimator<{ epsilon?: number }>()({
  name: "branpo",
  meaning: "before the fork the tree's mean reward, behind it the branch's own",
  formula:
    "before the fork: (mean reward of the tree - mean of the prompt's trees) / deviation; behind it: the same of the branch among all branches, at most 0 where the other is preferred",
  settings,
  besides: { epsilon: notNegative },
  preset: {
    name: "branpo",
    update: { clipRatioLow: 0.2, clipRatioHigh: 0.28, aggregation: "token-mean" },
  },
  spans: (batch, options) => branpo(inputOf(batch), options).spans.map((spans) => [...spans]),
});
