import type { PackedNumbers } from "../page/pack.js";
import type { ExplorerPayload } from "../explorer/payload.js";

/** Fresh tries of the question: the share that was right, with its 95% interval. */
export interface FreshTries {
  share: number;
  low: number;
  high: number;
}

/** What the page of a loop is given: a tree, and what the policy says of it after every update. */
export interface LoopPayload {
  tree: ExplorerPayload;
  updates: number;
  /** -ln p and entropy of every token that the model wrote, before the first update and after each. */
  surprises: PackedNumbers;
  entropies: PackedNumbers;
  /** The same of every word on the cards of `wordCards`, in their order: -ln p. */
  words: PackedNumbers;
  /** Before the first update and after each: fresh tries, of how many. */
  fresh: FreshTries[];
  tries: number;
  /** How it was recorded, in a sentence. */
  note: string;
}
