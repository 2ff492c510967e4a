import { Semaphore } from "../../../concurrency/semaphore.js";

/** How many requests may be under way: one more after each that succeeds, half where the server is busy. */
export class AdaptiveConcurrency {
  readonly #semaphore: Semaphore;
  readonly #most: number;

  constructor(most: number) {
    this.#semaphore = new Semaphore(most);
    this.#most = most;
  }

  /** How many may be under way now. */
  get limit(): number {
    return this.#semaphore.permits;
  }

  run<T>(request: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    return this.#semaphore.run(async () => {
      const done = await request();
      this.#semaphore.permits = Math.min(this.#most, this.limit + 1);
      return done;
    }, signal);
  }

  /** The server has too much to do. */
  halve(): void {
    this.#semaphore.permits = Math.max(1, Math.floor(this.limit / 2));
  }
}
