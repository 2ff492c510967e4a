import type { Random } from "../../base/random/random.js";
import type { PlannedChain } from "./plan-chains.js";

/** A place that a trajectory is left at, to make one more trajectory. */
export interface Choice {
  trajectory: number;
  /** Tokens of the response that the new trajectory keeps. */
  at: number;
  score: number;
  /** The place of the token it was chosen for. */
  token?: number;
}

/** What a round's choice depends on besides the trajectories. */
export interface RoundState {
  /** The round's own stream. */
  random: Random;
  /** Trajectories that may still be made. */
  budget: number;
  /** The first trajectories to start from, where a judge says which. Default: all. */
  bases?: readonly number[] | undefined;
  /** Which trajectories so far are right, for a rule that asks in every round. */
  right?: readonly boolean[] | undefined;
}

/** The choice of a place. */
export const choiceOf = (trajectory: number, place: PlannedChain["places"][number]): Choice => ({
  trajectory,
  at: place.at,
  score: place.score,
  token: place.place,
});
