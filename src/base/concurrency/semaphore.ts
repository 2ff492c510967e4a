interface Waiting {
  count: number;
  go: () => void;
}

/** At most `permits` at a time; the others wait, first come, first served. */
export class Semaphore {
  #permits: number;
  #held = 0;
  readonly #waiting = new Set<Waiting>();

  constructor(permits: number) {
    if (!Number.isSafeInteger(permits) || permits < 1) {
      throw new RangeError(
        `Cannot make a semaphore: permits must be a positive integer, got ${permits}`,
      );
    }
    this.#permits = permits;
  }

  get permits(): number {
    return this.#permits;
  }

  /** Fewer permits take effect as those that are held come back. */
  set permits(permits: number) {
    this.#permits = permits;
    this.#wake();
  }

  get held(): number {
    return this.#held;
  }

  /** How many wait for their turn. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Takes permits, or waits for them; rejects with the signal's reason if it is aborted before that. */
  acquire(count = 1, signal?: AbortSignal): Promise<void> | undefined {
    signal?.throwIfAborted();
    if (this.#waiting.size > 0 || this.#held + count > this.#permits) {
      return this.#wait(count, signal);
    }
    this.#held += count;
    return undefined;
  }

  release(count = 1): void {
    this.#held -= count;
    this.#wake();
  }

  /** Runs a task with one permit. */
  async run<T>(task: () => T | Promise<T>, signal?: AbortSignal): Promise<T> {
    // Without an await where there is a permit, so that the task starts at once.
    const turn = this.acquire(1, signal);
    if (turn) await turn;
    try {
      return await task();
    } finally {
      this.release();
    }
  }

  #wait(count: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#waiting.delete(waiting);
        signal?.removeEventListener("abort", stop);
      };
      const waiting: Waiting = {
        count,
        go: () => {
          leave();
          resolve();
        },
      };
      const stop = () => {
        leave();
        reject(signal?.reason as Error);
        this.#wake();
      };
      this.#waiting.add(waiting);
      signal?.addEventListener("abort", stop, { once: true });
    });
  }

  #wake(): void {
    for (const { count, go } of this.#waiting) {
      if (this.#held + count > this.#permits) return;
      this.#held += count;
      go();
    }
  }
}
