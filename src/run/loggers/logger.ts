import type { Scored } from "../../reward/scored.js";

/** How a run ended: at its last step, or by an error or an interrupt. */
export type RunOutcome = "finished" | "failed";

/** Something that is told a step's metrics. */
export interface Logger {
  readonly name: string;
  /** Where the run stands as it begins or goes on. */
  begin?(at: {
    step: number;
    /** Infinity where a budget ends the run. */ totalSteps: number;
  }): void | Promise<void>;
  log(step: number, metrics: Readonly<Record<string, number>>): void | Promise<void>;
  /** Some answers of a validation, for reading (`trainer.log_val_generations`). */
  answers?(step: number, rows: readonly LoggedAnswer[]): void | Promise<void>;
  /** The run has ended. */
  close?(outcome: RunOutcome): void | Promise<void>;
}

/** One validation answer. */
export interface LoggedAnswer {
  input: string;
  output: string;
  score: number;
  reason: string;
}

/** The first answers of a validation, one of each prompt. */
export function firstAnswers(scored: Scored, count: number): LoggedAnswer[] {
  const inputs = scored.trees.flatMap(({ selected: trajectories, prompt }) =>
    trajectories.map(() => prompt.text),
  );
  return scored.rows.slice(0, count).map(({ trajectory, score }, i) => ({
    input: inputs[i]!,
    output: trajectory.text,
    score: score.score,
    reason: score.reason,
  }));
}
