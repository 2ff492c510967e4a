import { duration } from "../loggers/logger.js";

/** What a run is doing: told in the middle of its steps. */
export interface RunProgress {
  /** The step that is under way; 0 before the first. */
  step: number;
  /** Infinity where a budget ends the run. */
  totalSteps: number;
  /** The share of the run that is done. */
  progress: number;
  /** In words: rolling out, scoring, updating, validating. */
  doing: string;
  /** How much of that is done, where it can be counted. */
  done?: number;
  of?: number;
}

/** How many steps a pace looks back: the first of a run also warms up tools and caches. */
const recentSteps = 8;

/** Tells a run's progress in a line: `step 3/60 · rolling out 5/8 · 11 s/step · ETA 10 min`. */
export class ProgressLine {
  readonly #seconds: number[] = [];
  #step = 0;
  #began = performance.now();

  /** The line for what a run is doing now. */
  tell({ step, totalSteps, progress, doing, done, of }: RunProgress): string {
    const now = performance.now();
    if (step !== this.#step) {
      if (this.#step > 0 && step === this.#step + 1) {
        this.#seconds.push((now - this.#began) / 1000);
        if (this.#seconds.length > recentSteps) this.#seconds.shift();
      }
      [this.#step, this.#began] = [step, now];
    }
    const pace = [...this.#seconds].sort((a, b) => a - b)[this.#seconds.length >> 1];
    const stepsDone = step - 1;
    const left =
      pace === undefined || progress <= 0
        ? undefined
        : Math.max(0, (pace * stepsDone * (1 - progress)) / progress - (now - this.#began) / 1000);
    const counted = of === undefined ? "" : ` ${done}/${of}`;
    return [
      ...(step === 0 ? [] : [`step ${step}${Number.isFinite(totalSteps) ? `/${totalSteps}` : ""}`]),
      `${doing}${counted}`,
      ...(pace === undefined ? [] : [`${Number(pace.toPrecision(2))} s/step`]),
      ...(left === undefined ? [] : [`ETA ${duration(left)}`]),
    ].join(" · ");
  }
}
