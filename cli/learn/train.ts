import { RunFolder, train } from "../../src/run/index.js";
import { type ConfigOptions, assemble, interruptible, readConfig } from "./assemble.js";
import { loggersOf } from "./loggers.js";

/** What is left of a run that failed, for whoever reads its error. */
async function whatIsLeft(folder: string): Promise<string> {
  const step = await RunFolder.existing(folder)
    .then((run) => run.latest())
    .catch(() => undefined);
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
  const warn = (message: string) => console.error(`warning: ${message}`);
  const parts = { ...(await assemble(config)), signal: interruptible() };
  try {
    const loggers = await loggersOf(config, folder, warn);
    console.log(`training in ${folder}`);
    const trainer = await train(parts, { folder, loggers, warn });
    console.log(`done: ${trainer.step} steps, everything is in ${folder}`);
    const saved = await (await RunFolder.existing(folder)).latest();
    const last = saved === undefined ? "" : `; arpo-lab eval ${folder}/global_step_${saved}/actor`;
    console.log(
      `next: board(${JSON.stringify(folder)}) in a cell shows it; arpo-lab compare ${folder} OTHER${last}`,
    );
  } catch (error) {
    console.error(`note: ${await whatIsLeft(folder)}`);
    throw error;
  } finally {
    await parts.tools.dispose();
    parts.policy.model.dispose();
  }
}
