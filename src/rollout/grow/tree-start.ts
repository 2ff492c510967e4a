import type { ChatMessage } from "../../model/tokenizer/tokenizer.js";
import type { Random } from "../../random/random.js";
import type { PromptText, RolloutTask } from "../task.js";
import type { LiveNode } from "./live-trajectory.js";
import type { TreeEpisodes } from "./tree-episodes.js";
import type { Trunk } from "./trunk.js";

/** Where a tree starts: after the prompt, or after a prefix of an earlier tree. */
export interface TreeStart {
  /** The prompt's place in the batch; it names the tree's random streams. */
  index: number;
  prompt: PromptText;
  /** The chat that the prompt was made of, where it was one and is whole. */
  messages: readonly ChatMessage[] | undefined;
  random: Random;
  /** The last node of the prefix, its tokens, and the calls spent in it. */
  prefix?: LiveNode;
  prefixTokens?: readonly number[];
  /** What the prefix shares with other trees of the session. */
  trunk?: Trunk;
  calls?: number;
  /** The environment that the trajectories act in. */
  episodes?: TreeEpisodes | undefined;
  task: RolloutTask;
}
