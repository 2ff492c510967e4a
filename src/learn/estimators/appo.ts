import { flag, share, rulesOf, type ValuesOf } from "../../../common/options/setting.js";
import { lossPresets } from "../losses/registry.js";
import type { CreditTrajectory } from "./adapt/credit-trajectories.js";
import { leaving } from "./adapt/leaving.js";
import { defineEstimator } from "./definition.js";
import {
  checkOptions,
  notNegative,
  type OptionRules,
} from "../../../common/options/check-options.js";
import { mean, scores } from "./base/estimator.js";
import type { Rows } from "../masked.js";
import {
  Credit,
  type CreditSpan,
  type CreditTerm,
  short,
  perGroup,
  populationDeviation,
} from "./credit.js";

/** Where a trajectory left another one. */
export interface CreditBranch {
  /** The trajectory it left. */
  from: number;
  /** The trajectory that left. */
  trajectory: number;
  /** The last token that both have: the one after which it left. Beyond the last: every token is. */
  token: number;
  /** What the branching rule gave the token; only the reward scale reads it. */
  score?: number;
}

export interface AppoInput {
  rewards: Rows;
  mask: Rows;
  groups: readonly (string | number)[];
  /** Whether a trajectory was there before anything branched. */
  initial: readonly boolean[];
  branches: readonly CreditBranch[];
}

const appoSettings = {
  normalizeByDeviation: flag(true, "Divide by the group's deviation"),
  /**
   * The published reward scale, whose factor falls by this with every token before the branch. It does
   * nothing to a reward on the last token unless a branch left exactly there. 0 turns it off.
   */
  rewardScaleDiscount: share(
    0.9,
    "Its reward scale, without effect on outcome rewards; 0: off",
    notNegative,
  ),
};

export interface AppoOptions extends Partial<ValuesOf<typeof appoSettings>> {
  epsilon?: number;
}

const appoRules: OptionRules<AppoOptions> = { ...rulesOf(appoSettings), epsilon: notNegative };

/**
 * APPO's scale of an initial rollout's rewards for one branch of it: 1 + score / best · discount^(token - t)
 * up to the token it left at, 1 after it; 1 everywhere unless both scores are above 0.
 */
export function appoRewardScale(branch: {
  token: number;
  score: number;
  /** The greatest score of the batch. */
  best: number;
  length: number;
  discount?: number;
}): number[] {
  const { token, score, best, length, discount = 0.9 } = branch;
  const grows = score > 0 && best > 0;
  return Array.from({ length }, (_, t) =>
    grows && t <= token ? 1 + (score / best) * discount ** (token - t) : 1,
  );
}

/**
 * A trajectory's rewards by the mean scale of what left it. As published, a trajectory that branched
 * itself too.
 */
export function appoRewards(input: AppoInput, discount = 0.9): Float64Array[] {
  const { rewards } = input;
  // A branch that is in no batch does not count among the scores.
  const branches = input.branches.filter(({ trajectory }) => trajectory >= 0);
  const most = branches.reduce((max, { score = 0 }) => Math.max(max, score), -Infinity);
  return rewards.map((trajectory, i) => {
    const out = Float64Array.from(trajectory);
    const own = branches.filter(({ from }) => from === i);
    if (own.length === 0 || discount === 0) return out;
    const scales = own.map(({ score = 0, token }) =>
      appoRewardScale({ token, score, best: most, length: out.length, discount }),
    );
    return out.map((reward, t) => reward * mean(scales.map((scale) => scale[t]!)));
  });
}

/** Every trajectory against those of its prompt that began as it did; alone it gets 0. */
function baseTerms(input: AppoInput, rewards: Rows, options: AppoOptions) {
  const { normalizeByDeviation = true, epsilon = 1e-6 } = options;
  const score = scores(rewards);
  const kinds = input.groups.map(
    (group, i) => `${input.initial[i] ? "initial" : "branch"} ${group}`,
  );
  const pools = perGroup(kinds, score);
  return score.map((own, i) => {
    const pool = pools.get(kinds[i]!)!;
    if (pool.length === 1) return { value: 0, from: "alone" };
    const centre = mean(pool);
    const width = normalizeByDeviation ? populationDeviation(pool) + epsilon : 1;
    return {
      value: (own - centre) / width,
      from: `(${short(own)} - ${short(centre)}) / ${short(width)}`,
    };
  });
}

/**
 * APPO's credit: only initial trajectories are trained on; each token gets its trajectory's advantage among
 * the initial trajectories, plus the mean advantage of the branches that left the trajectory there or later.
 */
export function appo(input: AppoInput, options: AppoOptions = {}): Credit {
  checkOptions("estimate advantages", options, appoRules);
  const base = baseTerms(input, appoRewards(input, options.rewardScaleDiscount), options);
  const spans = input.mask.map((own, trajectory): CreditSpan[] => {
    if (!input.initial[trajectory]) return [];
    // As published: what is no branch of the batch, or left before the first token, adds nothing.
    const left = input.branches.filter(
      ({ from, trajectory: branch, token }) =>
        from === trajectory && token >= 0 && input.initial[branch] === false,
    );
    const cuts = left.map(({ token }) => Math.min(token + 1, own.length));
    const ends = [...new Set([...cuts, own.length])].sort((a, b) => a - b);
    return ends.map((end, i) => {
      const start = ends[i - 1] ?? 0;
      const later = left.filter(({ token }) => token >= start);
      const terms: CreditTerm[] = [
        { name: "among the initial trajectories", ...base[trajectory]! },
      ];
      for (const { trajectory: branch } of later) {
        const { value, from } = base[branch]!;
        terms.push({
          name: `trajectory ${branch} left later`,
          value: value / later.length,
          from: later.length > 1 ? `${from} / ${later.length}` : from,
        });
      }
      return { start, end, sum: { terms, factors: [] } };
    });
  });
  return new Credit(spans, input.mask);
}

/** The token that a trajectory left at, where the rule names one, and its score where the rule is APPO's. */
function branchPoint({ tree, scored }: CreditTrajectory): { token?: number; score: number } {
  const { chosen } = tree.trajectories[scored.trajectory.id]!;
  const isAppo = tree.config.rule.startsWith("appo");
  return { token: chosen?.token, score: isAppo ? (chosen?.score ?? 0) : 0 };
}

export const appoEstimator = defineEstimator<{ epsilon?: number }>()({
  name: "appo",
  meaning: "initial trajectories, plus what later branches of the trajectory got",
  formula:
    "advantage among root trajectories + mean advantage of the branches that left there or later",
  settings: appoSettings,
  besides: { epsilon: notNegative },
  partial: true,
  preset: { name: "appo", update: lossPresets.appo },
  spans(batch, options) {
    const { trajectories, rewards, mask, groups } = batch;
    const left = leaving(trajectories);
    const branches = trajectories.flatMap((one, trajectory): CreditBranch[] => {
      if (one.initial) return [];
      const { from, shared } = left(trajectory);
      const { token = shared - 1, score } = branchPoint(one);
      // A result that follows the token is shared too.
      return [{ from, trajectory, token: Math.min(token, shared - 1), score }];
    });
    const initial = trajectories.map((trajectory) => trajectory.initial);
    const { spans } = appo({ rewards, mask, groups, initial, branches }, options);
    return spans;
  },
});
