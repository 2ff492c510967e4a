import type { ChatMessage } from "../../model/tokenizer/tokenizer.js";
import type { OpenOptions, Sequence, Session } from "../../policy/policy.js";
import type { Random } from "../../base/random/random.js";
import type { PromptText, RolloutTask } from "../task.js";
import type { LiveNode } from "./live-trajectory.js";
import type { TreeEpisodes } from "./tree-episodes.js";

/**
 * The longest of several prefixes that begin alike: it is computed once, and each tree is cut back from it.
 * It lives as long as its session.
 */
class Trunk {
  readonly #tokens: readonly number[];
  #sequence: Sequence | undefined;

  constructor(tokens: readonly number[]) {
    this.#tokens = tokens;
  }

  /** Whether a prefix is a beginning of it. */
  holds(tokens: readonly number[]): boolean {
    return (
      tokens.length <= this.#tokens.length && tokens.every((token, i) => token === this.#tokens[i])
    );
  }

  /** A sequence of the session behind the prompt and the first `length` tokens. */
  open(
    session: Session,
    prompt: ArrayLike<number>,
    options: OpenOptions,
    length: number,
  ): Sequence {
    if (!this.#sequence) {
      this.#sequence = session.open(prompt, options);
      if (this.#tokens.length > 0) session.append(this.#sequence, this.#tokens);
    }
    const sequence = session.fork(this.#sequence);
    if (length < this.#tokens.length) session.truncate(sequence, prompt.length + length);
    return sequence;
  }
}

/** Gives starts of one prompt whose prefixes begin alike a common trunk. */
export function shareTrunks(
  starts: readonly { prefixTokens: readonly number[]; trunk?: Trunk }[],
): void {
  const trunks: Trunk[] = [];
  const longestFirst = [...starts].sort((a, b) => b.prefixTokens.length - a.prefixTokens.length);
  for (const start of longestFirst) {
    let trunk = trunks.find((one) => one.holds(start.prefixTokens));
    if (!trunk) trunks.push((trunk = new Trunk(start.prefixTokens)));
    start.trunk = trunk;
  }
}

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
