/** Lets so many through at once; fewer where the other side is busy. */
export class Gate {
  readonly #most: number;
  #width: number;
  #running = 0;
  #waiting: (() => void)[] = [];

  constructor(most: number) {
    this.#most = most;
    this.#width = most;
  }

  /** How many may pass at once now. */
  get width(): number {
    return this.#width;
  }

  async pass<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    while (this.#running >= this.#width) await this.#turn(signal);
    signal?.throwIfAborted();
    this.#running++;
    try {
      const done = await work();
      this.#width = Math.min(this.#most, this.#width + 1);
      return done;
    } finally {
      this.#running--;
      this.#wake();
    }
  }

  /** The other side has too much to do. */
  narrow(): void {
    this.#width = Math.max(1, Math.floor(this.#width / 2));
  }

  #turn(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const stop = () => reject(signal?.reason as Error);
      if (signal?.aborted) return stop();
      signal?.addEventListener("abort", stop, { once: true });
      this.#waiting.push(() => {
        signal?.removeEventListener("abort", stop);
        resolve();
      });
    });
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const go of waiting) go();
  }
}
