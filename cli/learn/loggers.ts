import { join } from "node:path";
import type { Config } from "../../src/run/config/schema.js";
import type { Logger } from "../../src/run/loggers/logger.js";
import { consoleLogger } from "../../src/run/loggers/console.js";
import { mlflowLogger } from "../../src/run/loggers/mlflow.js";
import { tensorBoard } from "../../src/run/loggers/tensorboard.js";
import { wandbLogger } from "../../src/run/loggers/wandb.js";

/** How each logger of `trainer.logger` is made. */
const makers: Record<
  Config["trainer"]["logger"][number],
  (config: Config, folder: string, toError: boolean) => Logger | Promise<Logger>
> = {
  console: (_, __, toError) => {
    const stream = toError ? process.stderr : process.stdout;
    return consoleLogger({ live: stream.isTTY, write: (text) => void stream.write(text) });
  },
  tensorboard: (_, folder) => tensorBoard(join(folder, "tensorboard")),
  mlflow: (config, folder) => mlflowLogger({ ...named(config), config, folder }),
  wandb: (config, folder) => wandbLogger({ ...named(config), config, folder }),
};

const named = ({ trainer }: Config) => ({
  project: trainer.project_name,
  run: trainer.experiment_name,
});

/**
 * The loggers a configuration asks for; one that cannot be made is told of and left out. `toError` keeps
 * standard output free.
 */
export async function loggersOf(
  config: Config,
  folder: string,
  { warn, toError = false }: { warn: (message: string) => void; toError?: boolean },
): Promise<Logger[]> {
  const loggers: Logger[] = [];
  for (const name of config.trainer.logger) {
    try {
      loggers.push(await makers[name](config, folder, toError));
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      warn(`the logger ${name} failed, training goes on: ${why}`);
    }
  }
  return loggers;
}
