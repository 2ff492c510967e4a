import type { Config } from "../../../src/run/config/schema.js";
import { RunFolder } from "../../../src/run/folder/run-folder.js";
import { jsonLines } from "../../../src/run/loggers/json-lines.js";
import { train } from "../../../src/run/trainer/train.js";
import { guarded } from "../terminal/guarded.js";
import { printable } from "../../../src/base/text/printable.js";
import { ProgressLine, type RunProgress } from "../../../src/base/show/progress-line.js";
import { liveLines, progressLine } from "../terminal/live-lines.js";
import { aside, say } from "../terminal/say.js";
import { stoppable } from "../terminal/stopping.js";
import { assemble, readConfig } from "./assemble.js";
import { type ConfigOptions, experimentOf } from "./experiment.js";

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
    : `${folder} holds everything up to its checkpoint global_step_${step}; the same command continues from there`;
}

/** `arpo-lab train`. */
export async function trainFromConfig(
  overrides: string[],
  options: ConfigOptions & { out?: string; emit?: string },
): Promise<void> {
  if (options.emit !== undefined && options.emit !== "-") {
    throw new RangeError(`Cannot train: --emit must be - (standard output), got ${options.emit}`);
  }
  const config = await readConfig(experimentOf(options, overrides));
  const folder = options.out ?? config.trainer.default_local_dir;
  const afterwards = `what is saved in ${folder} stays, and the same command continues from its last checkpoint`;
  // A sweep that was killed starts its runs again: what still ran for it would be in their way.
  // It may have been killed while this process was starting.
  if (process.connected === false) process.exit(1);
  if (process.connected) {
    process.once("disconnect", () => process.exit(1));
    process.channel?.unref();
  }
  await guarded({ afterwards, patienceMs: config.lab.stuck_after * 1000 }, () =>
    trainIn(folder, config, options.emit !== undefined),
  );
}

async function trainIn(folder: string, config: Config, emit: boolean): Promise<void> {
  const stream = emit ? process.stderr : process.stdout;
  const live = stream.isTTY ? liveLines(stream) : undefined;
  const warn = (message: string) => {
    const text = printable(`warning: ${message}`);
    if (live) live.print(text);
    else aside(text);
  };
  // With --emit, standard output is for programs alone.
  const tell = emit ? aside : say;
  const parts = await assemble(config);
  const stopping = stoppable("behind a step");
  try {
    const programs = emit ? [jsonLines((line) => process.stdout.write(`${line}\n`))] : [];
    const loggers = [...config.trainer.logger, ...programs];
    // The line of progress stays below a logger's table.
    const write = (text: string) =>
      live ? live.print(text.replace(/\n$/, "")) : void stream.write(text);
    tell(`training in ${folder}`);
    const line = new ProgressLine();
    const show = progressLine(live);
    const onProgress = (progress: RunProgress) => {
      // Every step is told, that its pace is known.
      const text = line.tell(progress);
      show(() => text);
    };
    const trainer = await train(
      { ...parts, onProgress },
      { folder, loggers, write, warn, stopping },
    );
    live?.set("");
    tell(`done: ${trainer.step} steps, everything is in ${folder}`);
    const saved = await (await RunFolder.existing(folder)).latest();
    const last = saved === undefined ? "" : `; arpo-lab eval ${folder}/global_step_${saved}/actor`;
    tell(
      `next: board(${JSON.stringify(folder)}) in a cell shows it; arpo-lab compare ${folder} OTHER${last}`,
    );
  } catch (error) {
    aside(`note: ${await whatIsLeft(folder)}`);
    throw error;
  } finally {
    live?.set("");
    await parts.tools.dispose();
    parts.policy.model.dispose();
  }
}
