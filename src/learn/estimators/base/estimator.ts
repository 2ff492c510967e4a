import type { Rows } from "../../masked.js";

/** What an advantage estimator sees of a batch: one row per trajectory, padded to one length. */
export interface Outcome {
  /** Reward of each token; an outcome reward stands on the last one, all others are 0. */
  rewards: Rows;
  /** 1 on tokens that the model wrote, 0 on tool results and padding. */
  mask: Rows;
  /** Trajectories of one prompt share a group. */
  groups: readonly (string | number)[];
}

/** What an estimator gives for each token. */
export interface Advantages {
  advantages: Float64Array[];
  returns: Float64Array[];
}

/** The reward of each whole trajectory. */
export function scores(rewards: Rows): number[] {
  return rewards.map((row) => {
    let sum = 0;
    for (let t = 0; t < row.length; t++) sum += row[t]!;
    return sum;
  });
}

/** The trajectory numbers of each group, in the order the groups first appear. */
export function byGroup(groups: readonly (string | number)[]): number[][] {
  const rows = new Map<string | number, number[]>();
  groups.forEach((group, i) => {
    const list = rows.get(group);
    if (list) list.push(i);
    else rows.set(group, [i]);
  });
  return [...rows.values()];
}

/** Writes one number per trajectory onto each of its masked tokens. */
export function spread(perRow: readonly number[], mask: Rows): Float64Array[] {
  return mask.map((row, i) => {
    const out = new Float64Array(row.length);
    for (let t = 0; t < out.length; t++) out[t] = perRow[i]! * row[t]!;
    return out;
  });
}

/** An outcome estimator's returns are its advantages. */
export function outcome(advantages: Float64Array[]): Advantages {
  return { advantages, returns: advantages };
}

/**
 * Summed in four lanes after what they leave over, as PyTorch does for up to 19 values: equal scores
 * then round as in the reference, whose rest is divided by an epsilon of 1e-6.
 */
export function mean(values: readonly number[]): number {
  const lanes = [0, 0, 0, 0];
  const whole = values.length - (values.length % 4);
  const rest = values.slice(whole).reduce((sum, v) => sum + v, 0);
  for (let i = 0; i < whole; i++) lanes[i % 4]! += values[i]!;
  return lanes.reduce((sum, v) => sum + v, rest) / values.length;
}

/** Sample standard deviation, n - 1 in the denominator. */
export function deviation(values: readonly number[]): number {
  const centre = mean(values);
  return Math.sqrt(values.reduce((sum, v) => sum + (v - centre) ** 2, 0) / (values.length - 1));
}
