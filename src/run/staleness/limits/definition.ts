import type { Named } from "../../../../common/options/registry.js";

/** How far a run is, and how many samples a step takes. */
interface Admission {
  /** Updates that the trainer has made, as the sampler knows it. */
  version: number;
  /** Samples of one step. */
  batch: number;
  bound: number;
  /** Updates between two weights that the sampler gets. */
  syncEvery: number;
}

/** How a framework bounds how old its rollouts are when they are trained on. A new one is a file and a line in the registry. */
export interface StalenessLimit extends Named {
  title: string;
  /** What help says. */
  words: string;
  /** The published bound. */
  bound: number;
  /** What the bound counts: updates, or samples beyond those of a window, as a share of them. */
  counts: "updates" | "share";
  /** The bound is the only one that it has. */
  fixed?: true;
  /** Updates between two weights that the sampler gets, as published; absent: 1, and no other number. */
  syncEvery?: number;
  /** Samples that may have been drawn so far, those that are still being drawn included. Absent: any number. */
  admits?(at: Admission): number;
  /** What becomes of rollouts that are older than the bound when it is their turn. */
  older: "trained" | "dropped";
}

/** Samples that may still be drawn: below 0 where more were than may be. */
export function mayDraw(
  limit: StalenessLimit,
  at: Admission,
  drawn: { accepted: number; running: number; mostRunning?: number },
): number {
  const { accepted, running, mostRunning = Infinity } = drawn;
  const admitted = limit.admits?.(at) ?? Infinity;
  return Math.min(mostRunning - running, admitted - accepted - running);
}

/** The oldest version whose rollouts are no older than a bound for a trainer that has made so many updates. */
export const oldestVersion = (version: number, bound: number): number => version - bound;

/**
 * How old a rollout is for a trainer that has made so many updates: since the weights that it began with, and how much of
 * that passed while it was drawn and while it waited.
 */
export function ageOf(version: number, drawn: { from: number; to: number }) {
  const age = Math.max(0, version - drawn.from);
  const inFlight = Math.min(age, Math.max(0, drawn.to - drawn.from));
  return { age, inFlight, inQueue: age - inFlight };
}

/** AReaL's rule, which is SkyRL's: so many batches beyond those that were trained on, and the next. */
export const batchesAhead: StalenessLimit["admits"] = ({ version, batch, bound }) =>
  (bound + version + 1) * batch;
