import { Registry } from "../../../common/options/registry.js";
import { consoleDefinition } from "./console.js";
import type { LoggedRun, LoggerDefinition } from "./definition.js";
import type { Logger } from "./logger.js";
import { mlflowDefinition } from "./mlflow.js";
import { tensorBoardDefinition } from "./tensorboard.js";
import { trackioDefinition } from "./trackio.js";
import { wandbDefinition } from "./wandb.js";

const built = [
  consoleDefinition,
  tensorBoardDefinition,
  mlflowDefinition,
  wandbDefinition,
  trackioDefinition,
] as const;

/** The name of a logger that comes with the library. */
export type LoggerName = (typeof built)[number]["name"];

/** The loggers that a run can name. */
export const loggers = new Registry<LoggerDefinition, LoggerName>("logger", built, ["open"]);

/** What a run can be told to log to: a name, a definition, or a logger that is open already. */
export type LoggerChoice = LoggerName | LoggerDefinition | Logger;

/** Every logger's name, with what to know of it. */
export const loggerWords = (): string =>
  loggers.all.map(({ name, words }) => (words ? `${name} (${words})` : name)).join(", ");

const isOpen = (choice: LoggerDefinition | Logger): choice is Logger => "log" in choice;

/** Opens what a run logs to; one that cannot be opened is told of and left out. */
export async function openLoggers(
  choices: readonly LoggerChoice[],
  run: LoggedRun,
  warn: (message: string) => void,
): Promise<Logger[]> {
  const given = choices.map((choice) =>
    typeof choice === "string" ? loggers.of("train", "loggers", choice) : choice,
  );
  const opened: Logger[] = [];
  for (const one of given) {
    try {
      opened.push(isOpen(one) ? one : await one.open(run));
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      warn(`the logger ${one.name} failed, training goes on: ${why}`);
    }
  }
  return opened;
}
