/**
 * What an interrupted cell throws: from a loop's check, and as the reason of its abort signal.
 *
 * @example
 * ```ts
 * import { InterruptError } from "arpo-lab/kernel";
 * if (new InterruptError().name !== "InterruptError") throw new Error("named");
 * ```
 */
export class InterruptError extends Error {
  override name = "InterruptError";
  constructor(message = "Interrupted") {
    super(message);
  }
}
