/**
 * A cluster that refused, or did not answer. Its message holds no token.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { cluster, RayError } from "arpo-lab/experimental/scale";
 *
 * // Nothing listens on port 9.
 * const error: unknown = await cluster("http://127.0.0.1:9").catch((e: unknown) => e);
 * assert.ok(error instanceof RayError);
 * assert.deepEqual([error.status, error.away], [undefined, true]);
 * ```
 */
export class RayError extends Error {
  override name = "RayError";
  constructor(
    message: string,
    /** The HTTP status, where there was an answer. */
    readonly status?: number,
  ) {
    super(message);
  }

  /** Nothing answered: the head is gone, or cannot be reached from here. */
  get away(): boolean {
    return this.status === undefined;
  }
}
