import type { ExplorerPayload, PackedScores } from "../explorer/payload.js";

/** Fresh tries of the question: the share that was right, with its 95% interval. */
export interface FreshTries {
  share: number;
  low: number;
  high: number;
}

/** What the page of a loop is given: a tree, and what the policy says of it before the first update and after each. */
export interface LoopPayload extends PackedScores {
  tree: ExplorerPayload;
  updates: number;
  /** Before the first update and after each: fresh tries, of how many. */
  fresh: FreshTries[];
  tries: number;
  /** How it was recorded, in a sentence. */
  note: string;
}
