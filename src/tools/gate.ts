/** Lets at most `width` tasks run at a time, the others waiting in the order they came. */
export class Gate {
  #free: number;
  readonly #waiting = new Set<() => void>();

  constructor(width: number) {
    if (!Number.isSafeInteger(width) || width < 1) {
      throw new RangeError(`Cannot make a gate: width must be a positive integer, got ${width}`);
    }
    this.#free = width;
  }

  /** Tasks waiting for their turn. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Runs a task when there is room; rejects with the signal's reason if it is aborted before that. */
  async run<T>(task: () => T | Promise<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted();
    if (this.#free > 0) this.#free--;
    else await this.#turn(signal);
    try {
      return await task();
    } finally {
      const [next] = this.#waiting;
      if (next) next();
      else this.#free++;
    }
  }

  /** Resolves when a finished task hands its place on. */
  #turn(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#waiting.delete(go);
        signal?.removeEventListener("abort", give);
      };
      const go = () => {
        leave();
        resolve();
      };
      const give = () => {
        leave();
        reject(signal?.reason as Error);
      };
      this.#waiting.add(go);
      signal?.addEventListener("abort", give, { once: true });
    });
  }
}
