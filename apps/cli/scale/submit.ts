import { defined } from "../../../common/options/defined.js";
import { cluster, type SubmitOptions } from "../../../src/interop/job/cluster.js";
import type { JobRecord } from "../../../src/interop/job/job-record.js";
import type { Sweep } from "../../../src/interop/job/sweep.js";
import { type ConfigOptions, experimentOf } from "../learn/experiment.js";
import { aside, say } from "../terminal/say.js";
import { stoppable } from "../terminal/stopping.js";

/** Options of `arpo-lab submit`. */
interface SubmitCommandOptions extends ConfigOptions {
  address: string;
  tokenEnv?: string;
  name?: string;
  package: string;
  storage?: string;
  engine: string;
  tool: Record<string, string>;
  reward?: string;
  verl: string[];
  cpus: number;
  gpus: number;
  node: string;
  seeds?: number[];
  grid?: Record<string, string[]>;
  atOnce?: number;
  detach?: boolean;
}

/** `arpo-lab submit`. */
export async function submitRun(overrides: string[], options: SubmitCommandOptions): Promise<void> {
  const { address, tokenEnv, seeds, grid, atOnce, node } = options;
  if (node !== "there" && node !== "wheel") {
    throw new RangeError(`Cannot submit a run: --node must be there or wheel, got ${node}`);
  }
  const { engine, tool: tools, reward, verl: settings } = options;
  if (engine !== "lab" && engine !== "verl") {
    throw new RangeError(`Cannot submit a run: --engine must be lab or verl, got ${engine}`);
  }
  const forVerl = reward !== undefined || Object.keys(tools).length + settings.length > 0;
  if (engine === "lab" && forVerl) {
    throw new RangeError(
      "Cannot submit a run: --tool, --reward and --verl are for --engine verl, got lab",
    );
  }
  const there = await cluster(address, tokenEnv === undefined ? {} : { tokenEnv });
  const experiment = experimentOf(options, overrides);
  const how: SubmitOptions = {
    ...{ package: options.package, cpus: options.cpus, gpus: options.gpus, node },
    ...defined({ name: options.name, storage: options.storage }),
    ...(engine === "verl" ? { verl: { tools, settings, ...defined({ reward }) } } : {}),
    note: (line: string) => aside(`note: ${line}`),
  };
  if (seeds ?? grid) {
    const runs = defined({ seeds, grid });
    const sweep = await there.sweep(experiment, { ...how, ...runs });
    say(`sweep ${sweep.name}: ${(await sweep.runs()).length} runs`);
    await driveSweep(sweep, atOnce);
    return;
  }
  const job = await there.submit(experiment, how);
  say(`sent ${job.id} to ${there.address}`);
  say(`next: arpo-lab jobs attach ${job.id}, then board("runs/${job.id}") in a cell`);
  if (options.detach === true) return;
  const ended = await printAll(job.lines({ signal: stoppable("early") }));
  if (ended !== "SUCCEEDED") throw new Error(`Cannot finish ${job.id}: it ended as ${ended}`);
}

/** Prints lines; gives what they end with. */
export async function printAll<T>(lines: AsyncGenerator<string, T>): Promise<T> {
  for (;;) {
    const { done, value } = await lines.next();
    if (done) return value;
    say(value);
  }
}

/** Drives a sweep until all of it is over. */
export async function driveSweep(sweep: Sweep, atOnce?: number): Promise<void> {
  const onChange = ({ id, state, settings }: Readonly<JobRecord>): void => {
    const changed = Object.entries(settings).map(([key, value]) => `${key}=${value}`);
    say(`${id} ${state}  ${changed.join(" ")}`);
  };
  const signal = stoppable("early");
  const runs = await sweep.run({ signal, onChange, atOnce });
  const failed = runs.filter(({ state }) => state !== "SUCCEEDED");
  say(`${runs.length - failed.length} of ${runs.length} runs are done`);
  if (failed.length === 0) return;
  throw new Error(`Cannot finish the sweep: ${failed.map(({ id }) => id).join(", ")} failed`);
}
