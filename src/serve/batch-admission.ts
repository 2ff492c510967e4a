import { ApiError } from "./http/api-error.js";

interface Waiting {
  rows: number;
  go: () => void;
}

/**
 * How many rows are decoded at the same time, and how many requests may wait for their turn, first come
 * first served. Rows in the batch hold cache memory, so there must be a limit.
 */
export class BatchAdmission {
  readonly #rows: number;
  readonly #queue: number;
  readonly #waiting: Waiting[] = [];
  #running = 0;

  constructor(rows: number, queue: number) {
    this.#rows = rows;
    this.#queue = queue;
  }

  get running(): number {
    return this.#running;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /** Waits for room for so many rows; what it gives must be called when they are done. */
  async take(rows: number, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (rows > this.#rows) {
      throw new ApiError(
        400,
        `A request may ask for at most ${this.#rows} choices over all its prompts, got ${rows}.`,
        { param: "n" },
      );
    }
    if (this.#waiting.length > 0 || this.#running + rows > this.#rows) {
      if (this.#waiting.length >= this.#queue) {
        throw new ApiError(429, `${this.#queue} requests are waiting already; try again later.`, {
          type: "rate_limit_error",
          code: "rate_limit_exceeded",
          headers: { "retry-after": "1" },
        });
      }
      await this.#turn(rows, signal);
    } else this.#running += rows;
    let held = true;
    return () => {
      if (held) this.#running -= rows;
      held = false;
      this.#next();
    };
  }

  #turn(rows: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        rows,
        go: () => {
          signal.removeEventListener("abort", stop);
          resolve();
        },
      };
      const stop = () => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
        reject(signal.reason as Error);
        this.#next();
      };
      signal.addEventListener("abort", stop, { once: true });
      this.#waiting.push(waiting);
    });
  }

  #next(): void {
    for (;;) {
      const first = this.#waiting[0];
      if (!first || this.#running + first.rows > this.#rows) return;
      this.#waiting.shift();
      this.#running += first.rows;
      first.go();
    }
  }
}
