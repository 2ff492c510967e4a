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
  /**
   * @param step the training step
   * @param metrics the step's metrics by name
   */
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
function firstAnswers(scored: Scored, count: number): LoggedAnswer[] {
  const inputs = scored.trees.flatMap(({ selected: trajectories, prompt }) =>
    trajectories.map(() => prompt.text),
  );
  return scored.trajectories.slice(0, count).map(({ trajectory, score }, i) => ({
    input: inputs[i]!,
    output: trajectory.text,
    score: score.score,
    reason: score.reason,
  }));
}

/**
 * Several loggers as one that never fails: what a logger throws becomes one line per logger, and the run
 * continues. The run folder has every metric whatever becomes of them.
 */
export function guarded(loggers: readonly Logger[], warn: (message: string) => void) {
  const told = new Set<Logger>();
  const each = async (act: (logger: Logger) => unknown) => {
    for (const logger of loggers) {
      try {
        await act(logger);
      } catch (error) {
        if (told.has(logger)) continue;
        told.add(logger);
        const why = error instanceof Error ? error.message : String(error);
        warn(`the logger ${logger.name} failed, training goes on: ${why}`);
      }
    }
  };
  return {
    begin: (at: { step: number; totalSteps: number }) => each((logger) => logger.begin?.(at)),
    log: (step: number, metrics: Readonly<Record<string, number>>) =>
      each((logger) => logger.log(step, metrics)),
    answers: async (step: number, scored: Scored, count: number) => {
      if (count > 0) await each((logger) => logger.answers?.(step, firstAnswers(scored, count)));
    },
    close: (outcome: RunOutcome) => each((logger) => logger.close?.(outcome)),
  };
}
