/** Seconds as a person says them: 45 s, 3 min 20 s, 2 h 5 min. */
export function duration(seconds: number): string {
  const s = Math.round(seconds);
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min ${s % 60} s`;
  return `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`;
}

/** What a run is doing: told in the middle of its steps. */
export interface RunProgress {
  /** The step that is under way; 0 before the first. */
  step: number;
  /** Infinity where a budget ends the run. */
  totalSteps: number;
  /** The share of the run that is done. */
  progress: number;
  /** In words: rolling out, scoring, updating, validating, saving. */
  doing: string;
  /** How much of that is done, where it can be counted. */
  done?: number;
  of?: number;
}

/** How many steps a pace looks back: the first of a run also warms up tools and caches. */
const recentSteps = 8;

/** Tells the progress of work in a line: `step 3/60 · rolling out 5/8 · 11 s/step · ETA 10 min`. */
export class ProgressLine {
  readonly #seconds: number[] = [];
  #step = 0;
  #began = performance.now();
  /** How much was done when it was first told: what an earlier call did says nothing of this one's pace. */
  #first: number | undefined;

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
  /** The line for work without steps: `answering 12/48 · ETA 10 s`. */
  count(doing: string, done: number, of: number): string {
    this.#first ??= done;
    const made = done - this.#first;
    const seconds = (performance.now() - this.#began) / 1000;
    const left = made > 0 && done < of ? ` · ETA ${duration((seconds * (of - done)) / made)}` : "";
    return `${doing} ${done}/${of}${left}`;
  }
}
