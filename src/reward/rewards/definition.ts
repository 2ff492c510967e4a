import type { Reward } from "../reward-function.js";

/** A reward that a configuration can name. */
export interface RewardDefinition<R extends Reward = Reward> {
  readonly name: string;
  /** What it rewards. */
  readonly words: string;
  readonly reward: R;
  /** Data sources whose tasks it judges where no reward is named; one may end in `*`. */
  readonly dataSources?: readonly string[];
  /** What a response must hold for it, so that a prompt must ask for it. */
  readonly formats?: readonly string[];
}

/** Keeps the reward's own type. */
export const defineReward = <R extends Reward>(
  definition: RewardDefinition<R>,
): RewardDefinition<R> => definition;
