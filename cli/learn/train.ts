import { join } from "node:path";
import { type Logger, consoleLogger, tensorBoard, train } from "../../src/run/index.js";
import { type ConfigOptions, assemble, interruptible, readConfig } from "./assemble.js";

/** `arpo-lab train`. */
export async function trainFromConfig(
  overrides: string[],
  options: ConfigOptions & { out?: string },
): Promise<void> {
  const config = await readConfig(overrides, options);
  const folder = options.out ?? config.trainer.default_local_dir;
  const parts = { ...(await assemble(config)), signal: interruptible() };
  const loggers: Logger[] = [];
  for (const name of config.trainer.logger) {
    if (name === "console") loggers.push(consoleLogger());
    else if (name === "tensorboard") loggers.push(await tensorBoard(join(folder, "tensorboard")));
    else console.error(`note: the logger ${name} is not one of console, tensorboard: left out`);
  }
  console.log(`training in ${folder}`);
  try {
    const trainer = await train(parts, {
      folder,
      loggers,
      warn: (message) => console.error(`warning: ${message}`),
    });
    console.log(`done: ${trainer.step} steps, everything is in ${folder}`);
  } finally {
    await parts.tools.dispose();
    parts.policy.model.dispose();
  }
}
