import type { GeneratedToken, Segment } from "../policy/policy.js";
import type { ChatBody } from "./schema/chat.js";
import type { GenerationRequest } from "./schema/common.js";
import type { ToolCall } from "./tools/tool-call.js";

/** A chat request whose prompt is known. */
export interface BegunCall {
  prompt: readonly number[];
  request: GenerationRequest;
  body: ChatBody;
}

/** How one choice of a call came to its end: what it calls, or why it was cut. */
export type CallEnding = Pick<Segment, "finish" | "stop"> & { calls: readonly ToolCall[] };

/** A call while it is being answered. */
export interface OpenCall {
  /** How it is generated: sampling and stream may differ from what the client asked. */
  request: GenerationRequest;
  /** What a choice begins with, from a record; `whole`: nothing follows it. */
  given(index: number): { segment: Segment; whole: boolean } | undefined;
  token(index: number, token: GeneratedToken): void;
  finished(index: number, ending: CallEnding): void;
  /** Everything about the call is over; with the error that ended it, if one did. */
  closed(error?: unknown): void;
}

/** Keeps what a client asks and what it is answered. */
export interface CallRecorder {
  /** Throws where the call may not be made. */
  begin(call: BegunCall): OpenCall;
}
