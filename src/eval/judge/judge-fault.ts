import { HttpError } from "../../http/request-json.js";

/**
 * Why a judge gave no verdict. `timeout`: nothing in time. `rate-limit`: 429. `server`: another status.
 * `connection`: refused or broken off. `malformed`: not JSON, or not a chat completion. `refusal`: it
 * would not say. `cut-off`: its reply ended before a verdict. `nonsense`: neither correct nor incorrect.
 */
export type JudgeFault =
  | "timeout"
  | "rate-limit"
  | "server"
  | "connection"
  | "malformed"
  | "refusal"
  | "cut-off"
  | "nonsense";

/** An answer that came, of which no verdict can be made. */
export class JudgeReplyError extends Error {
  override name = "JudgeReplyError";
  constructor(
    readonly fault: "malformed" | "refusal" | "cut-off" | "nonsense",
    message: string,
    readonly reply?: string,
  ) {
    super(message);
  }
}

/** Which fault an error is; undefined for anything that is not the endpoint's doing. */
export function faultOf(error: unknown): JudgeFault | undefined {
  if (error instanceof JudgeReplyError) return error.fault;
  if (!(error instanceof HttpError)) return undefined;
  if (error.fault === "status") return error.status === 429 ? "rate-limit" : "server";
  return error.fault === "content" ? "malformed" : error.fault;
}
