import { defined } from "../../../common/options/defined.js";
import type { ChatMessage } from "../../model/tokenizer/tokenizer.js";
import type { FinishReason, Segment } from "../../policy/policy.js";
import { cutSupport, type Support } from "../../policy/token-sets.js";

/** A call of a function that the model wrote, or the result that the program sent for one. */
export interface CapturedFunction {
  name: string;
  /** JSON, as the model wrote it. */
  arguments: string;
}

/** One answer of the model to a program, as it was sampled. */
export interface CapturedCall {
  /** Its place among the session's calls, in the order in which they came. */
  id: number;
  /** The request it belongs to: choices of one request share it. */
  request: number;
  /** Ids of the prompt, exactly as the model read it. */
  prompt: Int32Array;
  /** Ids that the model sampled. */
  tokens: Int32Array;
  /** ln p of each sampled token. */
  logprobs: Float32Array;
  /** Entropy of the full distribution at each, in nats. */
  entropies: Float32Array;
  /** What each token was sampled from, where a format, a required call or a cut-off left less than the vocabulary. */
  support?: Support;
  finish: FinishReason;
  /** The stop string it ended with. */
  stop?: string;
  /** The functions it calls. */
  calls: readonly CapturedFunction[];
  /** Results in the prompt behind the last answer, each with the call that it answers. */
  results: readonly (CapturedFunction & { result: string })[];
  temperature: number;
  /** The session's clock when the request came, and when its answer was complete. */
  from: number;
  to: number;
  /** How often the client says that it asked before (`x-stainless-retry-count`). */
  retry?: number;
  /** The call whose functions' results it has, by their ids. */
  follows?: number;
  /** Why the answer is not complete: the client hung up, the session ended. */
  cut?: string;
}

/** Where a program changed what was said before. */
export interface Rewrite {
  /** The call whose words came back changed. */
  of: number;
  /** How many ids, from the prompt's first, are as recorded. */
  shared: number;
  /** What was recorded from there on, and what the program sent instead: some words of each. */
  recorded: string;
  sent: string;
}

/** A call with its place in the session. */
export interface LinkedCall extends CapturedCall {
  /** The call that it continues; -1 for none. */
  parent: number;
  /** The first call of its conversation: itself where it begins one. */
  root: number;
  /**
   * Where the parent's answer ends in the prompt, in ids, where it came back with other white space: the answer stands in
   * trees as it was sampled.
   */
  resumes?: number;
  /** It follows a history that the program changed. */
  rewrite?: Rewrite;
  /** Its answer was dropped: the program asked the same again and went on with that call's answer. */
  retriedBy?: number;
}

/** What a session's task may say, beside whatever the caller keeps with it. */
export interface CaptureTask {
  id?: string;
  prompt?: string | readonly ChatMessage[];
}

/** What a record gives again, as a segment. */
export function segmentOf(call: CapturedCall, count = call.tokens.length): Segment {
  return {
    tokens: call.tokens.slice(0, count),
    logprobs: call.logprobs.slice(0, count),
    entropies: call.entropies.slice(0, count),
    top: { width: 0, ids: new Int32Array(), logprobs: new Float32Array() },
    finish: call.finish,
    ...cutSupport(call, 0, count),
    ...defined({ stop: call.stop }),
  };
}
