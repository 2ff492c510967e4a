import { cpuSeconds } from "#platform/process";

/** Seconds spent in the parts of one step. */
export class StepClock {
  readonly #began = performance.now();
  readonly #cpu = cpuSeconds();
  readonly #parts = new Map<string, number>();
  #last = this.#began;

  /** Runs a part and takes its time. */
  async time<T>(part: string, run: () => Promise<T>): Promise<T> {
    this.#last = performance.now();
    try {
      return await run();
    } finally {
      this.mark(part);
    }
  }

  /** Adds what passed since the last mark to a part. */
  mark(part: string): void {
    const now = performance.now();
    this.#parts.set(part, (this.#parts.get(part) ?? 0) + (now - this.#last) / 1000);
    this.#last = now;
  }

  /** CPU seconds since the step began, those of tools' processes included, where they are known. */
  cpuSeconds(): number | undefined {
    const now = cpuSeconds();
    // A process that ends just now may be missing from the second count.
    return now === undefined ? undefined : Math.max(0, now - this.#cpu!);
  }

  /** Under the reference's names. */
  seconds(): Record<string, number> {
    const all = [...this.#parts, ["step", (performance.now() - this.#began) / 1000] as const];
    return Object.fromEntries(all.map(([part, seconds]) => [`timing_s/${part}`, seconds]));
  }
}
