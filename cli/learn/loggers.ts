import { join } from "node:path";
import {
  type Config,
  type Logger,
  consoleLogger,
  mlflowLogger,
  tensorBoard,
  wandbLogger,
} from "../../src/run/index.js";

/** How each logger of `trainer.logger` is made. */
const makers: Record<
  Config["trainer"]["logger"][number],
  (config: Config, folder: string) => Logger | Promise<Logger>
> = {
  console: () => consoleLogger({ live: process.stdout.isTTY }),
  tensorboard: (_, folder) => tensorBoard(join(folder, "tensorboard")),
  mlflow: (config, folder) => mlflowLogger({ ...named(config), config, folder }),
  wandb: (config, folder) => wandbLogger({ ...named(config), config, folder }),
};

const named = ({ trainer }: Config) => ({
  project: trainer.project_name,
  run: trainer.experiment_name,
});

/** The loggers a configuration asks for; one that cannot be made is told of and left out. */
export async function loggersOf(
  config: Config,
  folder: string,
  warn: (message: string) => void,
): Promise<Logger[]> {
  const loggers: Logger[] = [];
  for (const name of config.trainer.logger) {
    try {
      loggers.push(await makers[name](config, folder));
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      warn(`the logger ${name} failed, training goes on: ${why}`);
    }
  }
  return loggers;
}
