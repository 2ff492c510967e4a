import { Semaphore } from "../../base/concurrency/semaphore.js";
import { ApiError } from "./http/api-error.js";

/**
 * How many sequences are decoded at the same time, and how many requests may wait, first come, first
 * served. Each sequence in the batch holds cache memory, so there must be a limit.
 */
export class BatchAdmission {
  readonly #semaphore: Semaphore;
  readonly #queue: number;

  constructor(sequences: number, queue: number) {
    this.#semaphore = new Semaphore(sequences);
    this.#queue = queue;
  }

  get running(): number {
    return this.#semaphore.held;
  }

  get waiting(): number {
    return this.#semaphore.waiting;
  }

  /** Waits until so many sequences may run; the result must be called when they are done. */
  async take(sequences: number, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    const { permits, held, waiting } = this.#semaphore;
    if (sequences > permits) {
      throw new ApiError(
        400,
        `A request may ask for at most ${permits} choices over all its prompts, got ${sequences}.`,
        { param: "n" },
      );
    }
    if ((waiting > 0 || held + sequences > permits) && waiting >= this.#queue) {
      throw new ApiError(429, `${this.#queue} requests are waiting already; try again later.`, {
        type: "rate_limit_error",
        code: "rate_limit_exceeded",
        headers: { "retry-after": "1" },
      });
    }
    await this.#semaphore.acquire(sequences, signal);
    let isHeld = true;
    return () => {
      if (isHeld) this.#semaphore.release(sequences);
      isHeld = false;
    };
  }
}
