import type { Tokenizer } from "../../model/tokenizer/tokenizer.js";
import type { FinishReason } from "../../policy/policy.js";
import { toolContent } from "../../text/call-input.js";
import type { TrajectoryEnd } from "../tree/tree-values.js";

/** What happens to a trajectory after a segment. */
export type SegmentOutcome =
  | { kind: "call"; tag: string; input: string }
  | { kind: "keep" }
  | { kind: "end"; why: TrajectoryEnd };

interface Situation {
  segment: { finish?: FinishReason; stop?: string };
  /** The trajectory's tokens, prompt included, and where its response starts. */
  tokens: readonly number[];
  promptLength: number;
  calls: number;
  callLimit: number;
  responseLength: number;
  /** Look for the opening tag in the prompt too. */
  searchPrompt: boolean;
  tokenizer: Tokenizer;
}

/** Says what a trajectory does next. The caller spends the tool call. */
export function classify(at: Situation): SegmentOutcome {
  const { finish, stop } = at.segment;
  if (finish === "stop" && stop !== undefined) {
    if (at.calls >= at.callLimit) return { kind: "end", why: "call-limit" };
    const tag = stop.slice(2, -1);
    const from = at.searchPrompt ? 0 : at.promptLength;
    const input = toolContent(at.tokenizer.decode(at.tokens.slice(from)), tag);
    return input === "" ? { kind: "end", why: "bad-call" } : { kind: "call", tag, input };
  }
  if (finish === "length") {
    const response = at.tokens.length - at.promptLength;
    return response < at.responseLength ? { kind: "keep" } : { kind: "end", why: "length" };
  }
  return { kind: "end", why: finish === "context" ? "context" : "answer" };
}
