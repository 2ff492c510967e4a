/**
 * What a Tinker server said was wrong with a piece of work: it ran and failed, and asking again would
 * fail again.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { TinkerError } from "arpo-lab/experimental/scale";
 *
 * const error = new TinkerError("Cannot train: rank must be at most 32, got 64", "user");
 * assert.equal(error.category, "user");
 * ```
 */
export class TinkerError extends Error {
  override name = "TinkerError";
  constructor(
    message: string,
    /** Whose fault it is, as the server says. */
    readonly category: "user" | "server" | "unknown" = "unknown",
  ) {
    super(message);
  }
}

/**
 * The answer to a request that changes something at the server was lost: it may have been done or not,
 * so it was not sent again.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { TinkerError, TinkerLostAnswer } from "arpo-lab/experimental/scale";
 *
 * const lost = new TinkerLostAnswer("optim_step", "Cannot train: ... must answer, got ECONNRESET");
 * assert.ok(lost instanceof TinkerError && lost.call === "optim_step");
 * ```
 */
export class TinkerLostAnswer extends TinkerError {
  override name = "TinkerLostAnswer";
  constructor(
    /** What was asked for. */
    readonly call: string,
    message: string,
  ) {
    super(message, "server");
  }
}

/**
 * The server has ended the session, or forgot it: its models are gone, what was saved is not.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { TinkerSessionOver } from "arpo-lab/experimental/scale";
 *
 * assert.match(new TinkerSessionOver("Cannot train: the session must be alive").message, /alive/);
 * ```
 */
export class TinkerSessionOver extends TinkerError {
  override name = "TinkerSessionOver";
}
