import { isTerminal, note, write } from "#platform/note";
import { printable } from "../text/printable.js";
import { duration } from "./progress-line.js";

/** How far work is behind a step. */
interface StepDone {
  step: number;
  /** Infinity where a budget ends the work. */
  totalSteps: number;
  /** The share of the work that is done. */
  progress: number;
  /** What the step came to, in words. */
  figures: readonly string[];
}

/**
 * A line per step for who reads along: `step 3/60 · score 0.41 · entropy 0.32 · 45 tokens · 10 min left`. Where standard
 * output is no terminal, lines go to standard error: what a program writes into a file or a pipe is its own.
 */
export class StepLines {
  readonly #began = performance.now();

  /** @param begun the share of the work that was done before */
  constructor(readonly begun: number) {}

  step({ step, totalSteps, progress, figures }: StepDone): void {
    const of = Number.isFinite(totalSteps) ? `/${totalSteps}` : "";
    const left = ((this.#seconds() * (1 - progress)) / (progress - this.begun)) | 0;
    this.say(
      [`step ${step}${of}`, ...figures, ...(left > 0 ? [`${duration(left)} left`] : [])].join(
        " · ",
      ),
    );
  }

  /** The last line: what was done, and in what time. */
  end(words: string): void {
    this.say(`${words} in ${duration(this.#seconds())}`);
  }

  say(line: string): void {
    const text = printable(line);
    if (isTerminal()) write(`${text}\n`);
    else note(text);
  }

  #seconds(): number {
    return (performance.now() - this.#began) / 1000;
  }
}
