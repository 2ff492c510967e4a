import type { Random } from "../../random/random.js";
import type { SettingsOf } from "../branch/family/settings.js";
import { beyondResults, type Chain } from "./path-tokens.js";
import { treepoDivergence } from "../branch/family/treepo.js";

type SegmentSettings = SettingsOf<"treepo" | "spo-tree">;

/** Where the segment ends that a trajectory of so many tokens is in. */
export function segmentEnd(
  settings: SegmentSettings,
  { start, length }: { start: number; length: number },
): number {
  const step = stepOf(settings, { start, length });
  const isFree = settings.rule === "spo-tree" && step >= settings.factors.length - 1;
  return isFree ? Infinity : start + (step + 1) * settings.segment;
}

/** How many whole segments a trajectory has behind it. */
export const stepOf = (
  { segment }: SegmentSettings,
  { start, length }: { start: number; length: number },
): number => Math.floor((length - start) / segment);

/** Trajectories that a prompt starts with. */
export function firstPaths(
  settings: SegmentSettings,
  { width, random, misplaced }: { width: number; random: Random; misplaced: boolean },
): number {
  if (settings.rule === "spo-tree") return settings.factors[0]!;
  const [least, most] = settings.first;
  const drawn = misplaced
    ? settings.divergence
    : least + Math.floor(random.split("first").at(0) * (most - least + 1));
  return Math.min(width, drawn);
}

/** One prompt after a step. */
interface PathsNow {
  /** Unfinished paths: tokens so far, and ln p of what was drawn. */
  going: readonly { start: number; length: number; logprobs: ArrayLike<number> }[];
  /** Finished in this step, and in all. */
  finished: number;
  finishedInAll: number;
  width: number;
}

/** How many continuations each unfinished path gets; the path itself is the first of them. */
export function continuations(settings: SegmentSettings, now: PathsNow): number[] {
  if (settings.rule === "spo-tree") {
    return now.going.map((path) => settings.factors[stepOf(settings, path)] ?? 1);
  }
  const { segment, divergence, allocation, temperature } = settings;
  const { finished, finishedInAll, width } = now;
  return treepoDivergence({
    paths: now.going.map(({ logprobs }) => logprobs),
    ...{ finished, finishedInAll, width, segment, divergence, allocation, temperature },
  });
}

/** A finished path that is gone back into. */
export interface Return {
  trajectory: number;
  at: number;
}

/**
 * TreePO where no path is left and fewer than wanted are finished: finished ones by chance, each cut at
 * the end of one of its segments by chance and continued several times.
 */
export function goBack(
  { segment, divergence }: SettingsOf<"treepo">,
  finished: readonly Pick<Chain, "id" | "start" | "length" | "nodes">[],
  { wanted, random }: { wanted: number; random: Random },
): Return[] {
  const order = random.split("order").shuffle(finished);
  const returns: Return[] = [];
  for (let i = 0; returns.length < wanted && order.length > 0; i++) {
    const chain = order[i % order.length]!;
    const { id, start, length } = chain;
    const segments = Math.max(1, Math.ceil((length - start) / segment));
    const cut = start + segment * Math.floor(random.split("cut").at(i) * segments);
    const after = beyondResults(chain)(cut);
    const at = after < length ? after : start;
    for (let d = 0; d < divergence && returns.length < wanted; d++)
      returns.push({ trajectory: id, at });
  }
  return returns;
}
