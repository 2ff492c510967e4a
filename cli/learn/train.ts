import { type Config, RunFolder, train } from "../../src/run/index.js";
import { guarded } from "../guarded.js";
import { stoppable } from "../stopping.js";
import { type ConfigOptions, assemble, readConfig } from "./assemble.js";
import { loggersOf } from "./loggers.js";
import { aside, say } from "../say.js";

/** What is left of a run that failed, for whoever reads its error. */
async function whatIsLeft(folder: string): Promise<string> {
  let step: number | undefined;
  try {
    step = await (await RunFolder.existing(folder)).latest();
  } catch (error) {
    const { message, cause } = error as Error & { cause?: NodeJS.ErrnoException };
    if (cause?.code !== "ENOENT") return message;
  }
  return step === undefined
    ? `nothing was saved in ${folder} yet`
    : `${folder} holds everything up to its checkpoint global_step_${step}; the same command goes on from there`;
}

/** `arpo-lab train`. */
export async function trainFromConfig(
  overrides: string[],
  options: ConfigOptions & { out?: string },
): Promise<void> {
  const config = await readConfig(overrides, options);
  const folder = options.out ?? config.trainer.default_local_dir;
  const afterwards = `what is saved in ${folder} stays, and the same command goes on from its last checkpoint`;
  await guarded({ afterwards, patienceMs: config.lab.stuck_after * 1000 }, () =>
    trainIn(folder, config),
  );
}

async function trainIn(folder: string, config: Config): Promise<void> {
  const warn = (message: string) => aside(`warning: ${message}`);
  const parts = await assemble(config);
  const stopping = stoppable("behind a step");
  try {
    const loggers = await loggersOf(config, folder, warn);
    say(`training in ${folder}`);
    const trainer = await train(parts, { folder, loggers, warn, stopping });
    say(`done: ${trainer.step} steps, everything is in ${folder}`);
    const saved = await (await RunFolder.existing(folder)).latest();
    const last = saved === undefined ? "" : `; arpo-lab eval ${folder}/global_step_${saved}/actor`;
    say(
      `next: board(${JSON.stringify(folder)}) in a cell shows it; arpo-lab compare ${folder} OTHER${last}`,
    );
  } catch (error) {
    aside(`note: ${await whatIsLeft(folder)}`);
    throw error;
  } finally {
    await parts.tools.dispose();
    parts.policy.model.dispose();
  }
}
