import { checkArguments } from "../../../../common/options/check-arguments.js";
import {
  type Advantages,
  byGroup,
  deviation,
  mean,
  type Outcome,
  outcome,
  scores,
  spread,
} from "./estimator.js";
import { masked, whiten } from "../../masked.js";

/** Every row's number by its group's scores; `rows` are their places in the batch. */
function inGroups(
  input: Outcome,
  compare: (scores: number[], rows: readonly number[]) => readonly number[],
): Float64Array[] {
  checkArguments(
    "estimate advantages",
    { input },
    { input: { rewards: "list", mask: "list", groups: "list" } },
  );
  const { rewards, mask, groups } = input;
  const score = scores(rewards);
  const advantage = [...score];
  for (const rows of byGroup(groups)) {
    const compared = compare(
      rows.map((i) => score[i]!),
      rows,
    );
    rows.forEach((i, k) => (advantage[i] = compared[k]!));
  }
  return spread(advantage, mask);
}

/**
 * GRPO: each trajectory's score against its group's mean, over the group's deviation + epsilon, on every token
 * of the trajectory. A group of one keeps its score. Without `normalizeByDeviation` it is Dr. GRPO's.
 *
 * The reference forms the group's statistics in float32; here they are doubles.
 * @param input the reward and mask of every token, and the group of every trajectory
 */
export function grpo(
  input: Outcome,
  { epsilon = 1e-6, normalizeByDeviation = true } = {},
): Advantages {
  return outcome(
    inGroups(input, (own) => {
      const [centre, width] = own.length === 1 ? [0, 1] : [mean(own), deviation(own)];
      const scale = normalizeByDeviation ? width + epsilon : 1;
      return own.map((score) => (score - centre) / scale);
    }),
  );
}

/**
 * RLOO: each trajectory's score against the mean of the others in its group.
 * @param input the reward and mask of every token, and the group of every trajectory
 */
export function rloo(input: Outcome): Advantages {
  return outcome(
    inGroups(input, (own) => {
      const k = own.length;
      if (k === 1) return own;
      const centre = mean(own);
      return own.map((score) => (score * k) / (k - 1) - (centre * k) / (k - 1));
    }),
  );
}

/**
 * GPG: each trajectory's score less its group's mean, times the number of trajectories for each trajectory
 * that has a score at all. A group of one keeps its score.
 * @param input the reward and mask of every token, and the group of every trajectory
 */
export function gpg(input: Outcome): Advantages {
  checkArguments("estimate advantages", { input }, { input: { rewards: "list" } });
  const all = scores(input.rewards);
  const scale = all.length / Math.max(1, all.filter((s) => s !== 0).length);
  return outcome(
    inGroups(input, (own) => {
      const centre = own.length === 1 ? 0 : mean(own);
      return own.map((score) => scale * (score - centre));
    }),
  );
}

/**
 * OPO: each trajectory's score against its group's mean weighted by length, which lowers the variance most
 * when long answers carry more gradient.
 * @param input the reward and mask of every token, and the group of every trajectory
 */
export function opo(input: Outcome): Advantages {
  checkArguments("estimate advantages", { input }, { input: { mask: "list" } });
  const length = scores(input.mask);
  return outcome(
    inGroups(input, (own, rows) => {
      if (own.length === 1) return own;
      const weighted = own.reduce((sum, score, k) => sum + length[rows[k]!]! * score, 0);
      const baseline = weighted / rows.reduce((sum, i) => sum + length[i]!, 0);
      return own.map((score) => score - baseline);
    }),
  );
}

/**
 * GRPO for pass@k: only a group's best trajectory learns, by how much it beats the second best.
 * @param input the reward and mask of every token, and the group of every trajectory
 */
export function grpoPassAtK(
  input: Outcome,
  { epsilon = 1e-6, normalizeByDeviation = true } = {},
): Advantages {
  return outcome(
    inGroups(input, (own, rows) => {
      if (own.length < 2) {
        throw new RangeError(
          `Cannot estimate pass@k advantages: a group must have at least 2 trajectories, got 1 in ${input.groups[rows[0]!]}`,
        );
      }
      const [best, second] = own.map((_, k) => k).sort((a, b) => own[b]! - own[a]!);
      const width = normalizeByDeviation ? deviation(own) + epsilon : 1;
      return own.map((score, k) => (k === best ? (score - own[second!]!) / width : 0));
    }),
  );
}

/**
 * REINFORCE++-baseline: scores less their group's mean, whitened over the batch.
 * @param input the reward and mask of every token, and the group of every trajectory
 */
export function reinforcePlusPlusBaseline(input: Outcome): Advantages {
  const centred = inGroups(input, (own) => {
    if (own.length === 1) return own;
    const centre = mean(own);
    return own.map((score) => score - centre);
  });
  return outcome(masked(whiten(centred, input.mask), input.mask));
}
