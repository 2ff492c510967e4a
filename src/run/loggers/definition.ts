import type { Logger } from "./logger.js";

/** The run that a logger is opened for. */
export interface LoggedRun {
  /** The run's folder, which exists. */
  folder: string;
  /** The project's and the run's name, and the group that runs are shown together in. */
  project: string;
  run: string;
  group?: string;
  /** The whole configuration. */
  config: Readonly<Record<string, unknown>>;
  /** Takes text for the person who started the run. */
  write: (text: string) => void;
}

/** A logger that a run can name. */
export interface LoggerDefinition<Name extends string = string> {
  readonly name: Name;
  /** What to know of it besides its name: what it needs, what it leaves. */
  readonly words?: string;
  /** @param run the run that it is told of */
  open(run: LoggedRun): Logger | Promise<Logger>;
}

/** Keeps the name's own type, by which options and configurations know it. */
export const defineLogger = <const Name extends string>(
  definition: LoggerDefinition<Name>,
): LoggerDefinition<Name> => definition;
