import { checkArguments } from "../../../common/options/check-arguments.js";
import type { Logger, RunOutcome } from "./logger.js";

/** A line that a run prints for programs: where it stands, a step's figures, how it ended. */
export type RunLine =
  | { run: "begin"; step: number; totalSteps?: number }
  | { run: "step"; step: number; metrics: Record<string, number> }
  | { run: "end"; outcome: RunOutcome };

/**
 * A logger that writes one line of JSON per step (`arpo-lab train --emit -`), to be found among other
 * lines by `runLine`. Figures that are not finite are left out.
 *
 * @param write receives each line
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { jsonLines } from "arpo-lab/run";
 *
 * const lines: string[] = [];
 * const logger = jsonLines((line) => lines.push(line));
 * await logger.log(3, { "critic/score/mean": 0.5, "actor/kl": NaN });
 * assert.equal(lines[0], '{"run":"step","step":3,"metrics":{"critic/score/mean":0.5}}');
 * ```
 */
export function jsonLines(write: (line: string) => void): Logger {
  checkArguments("log", { write }, { write: "function" });
  const say = (line: RunLine): void => {
    write(JSON.stringify(line));
  };
  return {
    name: "json",
    begin: ({ step, totalSteps }) => {
      say({ run: "begin", step, ...(Number.isFinite(totalSteps) ? { totalSteps } : {}) });
    },
    log: (step, all) => {
      const finite = Object.entries(all).filter(([, value]) => Number.isFinite(value));
      say({ run: "step", step, metrics: Object.fromEntries(finite) });
    },
    close: (outcome) => {
      say({ run: "end", outcome });
    },
  };
}

/** What a line of a run's output says, if it is one of `jsonLines`; other lines are undefined. */
export function runLine(text: string): RunLine | undefined {
  if (!text.startsWith('{"run":')) return undefined;
  let read: unknown;
  try {
    read = JSON.parse(text);
  } catch {
    return undefined;
  }
  const { run, step, totalSteps, outcome, metrics } = read as Record<string, unknown>;
  const counts = (value: unknown): value is number => Number.isSafeInteger(value);
  if (run === "begin" && counts(step)) {
    if (totalSteps === undefined) return { run, step };
    if (counts(totalSteps)) return { run, step, totalSteps };
  }
  if (run === "end" && (outcome === "finished" || outcome === "failed")) return { run, outcome };
  if (run !== "step" || !counts(step) || typeof metrics !== "object" || metrics === null) {
    return undefined;
  }
  const figures = Object.entries(metrics).flatMap(([name, value]) =>
    typeof value === "number" ? [[name, value] as const] : [],
  );
  return { run, step, metrics: Object.fromEntries(figures) };
}
