import { type ClipOptions, clipBounds, type LossSettings } from "./options.js";

/**
 * Where a token stood when it was trained on; `chosen` by the loss itself, `dropped` with its sequence
 * or turn.
 */
export type ClipRegion = "inside" | "above" | "below" | "dual" | "chosen" | "dropped";

/** A sequence as a rule sees it: one number per response token. */
export interface LossRow {
  logprobs: ArrayLike<number>;
  oldLogprobs: ArrayLike<number>;
  advantages: ArrayLike<number>;
  mask: ArrayLike<number>;
  /** For AEPO's entropy-aware advantage. */
  entropies?: ArrayLike<number>;
  /** ln p at the sampler, for the losses that ask for it; without, that of before the update. */
  sampledLogprobs?: ArrayLike<number>;
  /** Updates by which its policy is older than the one that is trained; -1: unknown. */
  ages?: ArrayLike<number>;
  /** What a correction for another sampler multiplies the token losses by. */
  weights?: ArrayLike<number>;
  /** Those weights are of trajectories: each token has its trajectory's. */
  wholeWeights?: boolean;
  /** What a loss picked in the update itself. */
  chosen?: ArrayLike<number>;
}

/** A token by itself. */
interface SeenToken {
  /** As the estimator gave it. */
  advantage: number;
  logprob: number;
  oldLogprob: number;
  /** Its own, whatever the loss makes of it. */
  logRatio: number;
  ratio: number;
}

/** What a loss makes of a token's sequence, turn or batch: numbers by name. */
export type Shared = Readonly<Record<string, number>>;

/** What a loss makes of a token. */
export interface TokenOutcome {
  /** The ratio that counts: the token's own, its turn's or its sequence's. */
  ratio: number;
  region: ClipRegion;
  /** The advantage that counts. */
  used: number;
  /** Factor of - used grad ln p: 0 where the loss dropped the token. */
  weight: number;
  /** What else stands before grad ln p. */
  hold?: number;
  loss: number;
  /** Further quantities of the loss's formula. */
  terms?: Readonly<Record<string, number>>;
}

/** What a loss does to single tokens, in plain numbers. */
export interface TokenRule<S = LossSettings> {
  /** Looks at all sequences once; what it gives is asked token by token. */
  share?(rows: readonly LossRow[], settings: S): (row: number, token: number) => Shared;
  token(seen: SeenToken, shared: Shared, settings: S): TokenOutcome;
  /** How its own losses take a correction's weights; unset: each token's loss takes its own. */
  weigh?(rows: readonly LossRow[]): (row: number, token: number) => number;
}

/** A token's outcome under a correction's weight. */
export function weighed(outcome: TokenOutcome, by: number): TokenOutcome {
  if (by === 1) return outcome;
  const { weight, hold, loss } = outcome;
  return {
    ...{ ...outcome, weight: weight * by, loss: loss * by },
    ...(hold === undefined ? {} : { hold: hold * by }),
  };
}

/** Each token's weight by a correction. */
export function weightsOf(
  rule: TokenRule,
  rows: readonly LossRow[],
): (row: number, token: number) => number {
  if (rows.every((row) => row.weights === undefined)) return () => 1;
  return rule.weigh?.(rows) ?? ((r, t) => rows[r]!.weights?.[t] ?? 1);
}

/** Something of each sequence, found when it is first asked for. */
export function perRow<T>(rows: readonly LossRow[], of: (row: LossRow) => T): (row: number) => T {
  const found = new Map<number, T>();
  return (r) => {
    if (!found.has(r)) found.set(r, of(rows[r]!));
    return found.get(r)!;
  };
}

/** The numbers of all trained tokens. */
export function trainedOf(
  rows: readonly LossRow[],
  pick: (row: LossRow) => ArrayLike<number>,
): number[] {
  return rows.flatMap((row) => Array.from(pick(row)).filter((_, t) => row.mask[t]));
}

/** A number kept between two. */
export const clamp = (x: number, low: number, high: number): number =>
  Math.max(low, Math.min(high, x));

/** PPO's clip of one ratio, without the dual clip. */
export function clippedOutcome(
  ratio: number,
  used: number,
  options: ClipOptions,
): TokenOutcome & { terms: Record<string, number> } {
  const { low, high } = clipBounds(options);
  const bounded = clamp(ratio, low, high);
  const [unclipped, clipped] = [-ratio * used, -bounded * used];
  const loss = Math.max(unclipped, clipped);
  const terms = { bounded, unclipped, clipped, worse: loss };
  const outcome = { ratio, used, loss, terms };
  if (used > 0 && ratio > high) return { ...outcome, region: "above", weight: 0 };
  if (used < 0 && ratio < low) return { ...outcome, region: "below", weight: 0 };
  return { ...outcome, region: "inside", weight: ratio };
}

/** The same with the dual clip. */
export function dualClippedOutcome(
  ratio: number,
  used: number,
  options: ClipOptions,
): TokenOutcome {
  const { c } = clipBounds(options);
  const outcome = clippedOutcome(ratio, used, options);
  if (used >= 0 || ratio <= c) return outcome;
  return { ...outcome, loss: -c * used, region: "dual", weight: 0 };
}

/** Bounds a sequence's exponent so that one runaway sequence cannot overflow. */
export const largestLogRatio = 10;

/** The mean of ln p - ln p_old over the tokens of a sequence that are trained; 0 where none is. */
export function rowLogRatio({ logprobs, oldLogprobs, mask }: LossRow): number {
  let sum = 0;
  let count = 0;
  for (let t = 0; t < mask.length; t++) {
    if (!mask[t]) continue;
    sum += logprobs[t]! - oldLogprobs[t]!;
    count++;
  }
  return sum / Math.max(1, count);
}

/** The turns to which the loss by turns gives a ratio; tokens of later ones have none and no gradient. */
export const countedTurns = 9;

/** How far a log ratio counts in the losses that bound it before they raise it. */
export const widestLogRatio = 20;

/** The turns of a sequence: a run of ones in its mask each, numbered from 1; 0 where there is none. */
export function turnsOf(mask: ArrayLike<number>): Int32Array {
  const turns = new Int32Array(mask.length);
  let turn = 0;
  for (let t = 0; t < mask.length; t++) {
    if (!mask[t]) continue;
    if (t === 0 || !mask[t - 1]) turn++;
    turns[t] = turn;
  }
  return turns;
}

/** How a token's advantage and log-probability vary together, over all trained tokens. */
export function covarianceOf(rows: readonly LossRow[]): (row: number, token: number) => number {
  const mean = (pick: (row: LossRow) => ArrayLike<number>) => {
    const all = trainedOf(rows, pick);
    return all.reduce((sum, x) => sum + x, 0) / Math.max(1, all.length);
  };
  const [advantage, logprob] = [mean((row) => row.advantages), mean((row) => row.logprobs)];
  return (r, t) => (rows[r]!.advantages[t]! - advantage) * (rows[r]!.logprobs[t]! - logprob);
}

/** The places of all trained tokens, sequence by sequence. */
export function placesOf(rows: readonly LossRow[]): [row: number, token: number][] {
  return rows.flatMap(({ mask }, r) =>
    Array.from(mask).flatMap((m, t): [number, number][] => (m ? [[r, t]] : [])),
  );
}

/** Whether a place was chosen: as the update itself noted, else among the first of these. */
export function chosenAt(
  rows: readonly LossRow[],
  first: () => readonly (readonly [row: number, token: number])[],
): (row: number, token: number) => number {
  if (rows.every((row) => row.chosen !== undefined)) return (r, t) => rows[r]!.chosen![t]!;
  const found = new Set(first().map(([r, t]) => `${r} ${t}`));
  return (r, t) => Number(found.has(`${r} ${t}`));
}

/**
 * What a row's tokens count in a mean over prompts of the means over their tokens: one over the prompts, and over the
 * tokens of the row's prompt.
 */
export function promptScales(
  groups: readonly (string | number)[],
  tokens: readonly number[],
): number[] {
  const sums = new Map<string | number, number>();
  groups.forEach((group, row) => sums.set(group, (sums.get(group) ?? 0) + tokens[row]!));
  return groups.map((group) => 1 / (sums.size * Math.max(1, sums.get(group)!)));
}
