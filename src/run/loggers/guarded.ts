import type { Scored } from "../../reward/scored.js";
import { type Logger, type RunOutcome, firstAnswers } from "./logger.js";

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
