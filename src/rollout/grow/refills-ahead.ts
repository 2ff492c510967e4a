import type { Sequence } from "../../policy/policy.js";
import type { Random } from "../../random/random.js";
import type { Written } from "./live-trajectory.js";

/** A first segment that is being written for a trajectory that may never exist. */
export interface Begun {
  handle: Sequence;
  random: Random;
  written: Promise<Written>;
  giveUp: () => void;
}

/**
 * First segments of new root trajectories, written before it is known which of them there will be.
 *
 * When no trajectory continues, the reference makes one new root trajectory, waits for its segment, and
 * only then knows whether the next number is another new root trajectory or a branch. What a new root
 * trajectory writes first depends on its number alone, since its random stream is named after it. So those
 * of all numbers that are left are written together; a number that a branch takes drops its segment. Each
 * number is begun at most once, so a tree never writes more than one segment in vain for each trajectory of
 * its budget.
 */
export class RefillsAhead {
  readonly #beginTrajectory: (number: number) => Begun;
  readonly #begun = new Map<number, Begun>();
  /** The first number that was never begun. */
  #next = 0;

  constructor(beginRow: (number: number) => Begun) {
    this.#beginTrajectory = beginRow;
  }

  /** Begins every number from `from` up to `until` that was not begun before. */
  begin(from: number, until: number): void {
    for (let number = Math.max(from, this.#next); number < until; number++) {
      const begun = this.#beginTrajectory(number);
      begun.written.catch(() => undefined); // Its failure is seen by who takes it.
      this.#begun.set(number, begun);
    }
    this.#next = Math.max(this.#next, until);
  }

  /** What was begun for a number, which a new root trajectory takes over. */
  take(number: number): Begun | undefined {
    const begun = this.#begun.get(number);
    this.#begun.delete(number);
    return begun;
  }

  /** A number that turned out to be another trajectory. */
  drop(number: number): void {
    this.take(number)?.giveUp();
  }

  /** Drops all that is left. */
  close(): void {
    for (const number of [...this.#begun.keys()]) this.drop(number);
  }
}
