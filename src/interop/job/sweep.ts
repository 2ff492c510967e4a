import { checkOptions, integer } from "../../../common/options/check-options.js";
import { pause } from "../../base/http/pause.js";
import type { RayApi, RayNode } from "../ray/ray-api.js";
import { RayError } from "../ray/ray-connection.js";
import { Job } from "./job.js";
import type { JobLedger } from "./job-ledger.js";
import { isOver, type JobRecord, type JobState } from "./job-record.js";
import { sendJob } from "./send-job.js";

/** Which runs a sweep has. */
export interface SweepAxes {
  /** A run for each (`lab.seed`). */
  seeds?: readonly number[];
  /** A run for each combination of values of these keys. */
  grid?: Readonly<Record<string, readonly (string | number | boolean)[]>>;
}

/** What each run of a sweep changes. */
export function sweepSettings({ seeds, grid = {} }: SweepAxes): Record<string, string>[] {
  const axes: [string, readonly (string | number | boolean)[]][] = Object.entries(grid);
  if (seeds !== undefined) axes.push(["lab.seed", seeds]);
  if (axes.length === 0) {
    throw new RangeError("Cannot sweep: seeds or a grid must be given, got neither");
  }
  let all: Record<string, string>[] = [{}];
  for (const [key, values] of axes) {
    if (!Array.isArray(values) || values.length === 0) {
      throw new RangeError(`Cannot sweep: ${key} must have at least one value, got none`);
    }
    all = all.flatMap((one) => values.map((value) => ({ ...one, [key]: String(value) })));
  }
  const distinct = new Set(all.map((one) => JSON.stringify(one)));
  if (distinct.size < all.length) {
    throw new RangeError("Cannot sweep: every run must be another, got a value twice");
  }
  return all;
}

/** How a sweep is driven. */
export interface SweepRunOptions {
  /** Jobs at the same time. @default as many as the cluster's processors hold */
  atOnce?: number;
  /** How often a run is sent again whose node or head was lost. @default 3 */
  retries?: number;
  signal?: AbortSignal;
  /** Told whenever a run's state is another. */
  onChange?: (job: Readonly<JobRecord>) => void;
}

/** What kept Ray, not the program, from running a job to its end. */
const lostNode = /JOB_SUPERVISOR|supervisor actor|node .*died|has died/i;

/**
 * Runs that are compared. The list of them is kept on this machine: one that was killed while it drove a
 * sweep is followed by another, which sends what was not sent and leaves what is done.
 */
export class Sweep {
  constructor(
    readonly name: string,
    private readonly parts: { api: RayApi; ledger: JobLedger },
  ) {}

  /** The latest attempt of each run, in the sweep's order. */
  async runs(): Promise<JobRecord[]> {
    const latest = new Map<string, JobRecord>();
    for (const record of await this.parts.ledger.all()) {
      if (record.sweep !== this.name) continue;
      const known = latest.get(record.run);
      if (!known || known.attempt < record.attempt) latest.set(record.run, record);
    }
    const runs = [...latest.values()].sort((a, b) => (a.run < b.run ? -1 : 1));
    if (runs.length > 0) return runs;
    throw new RangeError(`Cannot find the sweep: its name must be one kept here, got ${this.name}`);
  }

  /** Sends the runs, so many at a time, and waits until all are over; gives the latest attempt of each. */
  async run(options: SweepRunOptions = {}): Promise<JobRecord[]> {
    checkOptions("run a sweep", options, {
      atOnce: integer(1),
      retries: integer(0),
      signal: "signal?",
      onChange: "function?",
    });
    const { retries = 3, signal, onChange } = options;
    const { api, ledger } = this.parts;
    const told = new Map<string, JobState>();
    for (;;) {
      signal?.throwIfAborted();
      let runs = await this.runs();
      try {
        const atOnce = options.atOnce ?? (await this.#capacity(runs[0]!));
        let under = 0;
        for (const record of runs) {
          if (record.state === "written" || isOver(record.state)) continue;
          const state = await new Job(record, api, ledger).status();
          if (!isOver(state)) under++;
        }
        runs = await this.runs();
        for (const record of runs) {
          if (under >= atOnce) break;
          const job = new Job(record, api, ledger);
          if (record.state === "written") {
            // Sent by one that was killed before it could say so?
            if ((await job.status()) === "written") await sendJob(record, api, ledger);
          } else if (wasLost(record) && record.attempt <= retries) await job.retry();
          else continue;
          under++;
        }
      } catch (error) {
        // A head that is being started anew: what was under way will be found lost, and sent again.
        if (!(error instanceof RayError) || !error.away) throw error;
      }
      runs = await this.runs();
      for (const record of runs) {
        if (told.get(record.id) === record.state) continue;
        told.set(record.id, record.state);
        onChange?.(record);
      }
      const open = (r: JobRecord) => !isOver(r.state) || (wasLost(r) && r.attempt <= retries);
      if (!runs.some(open)) return runs;
      await pause(1000, signal);
    }
  }

  /** Stops every run that is under way; what was not sent stays unsent. */
  async stop(): Promise<void> {
    const { api, ledger } = this.parts;
    const under = (await this.runs()).filter(
      ({ state }) => state === "PENDING" || state === "RUNNING",
    );
    await Promise.all(under.map((record) => new Job(record, api, ledger).stop()));
  }

  async #capacity(record: JobRecord): Promise<number> {
    return capacityOf(await this.parts.api.nodes(), record);
  }
}

/** How many jobs that reserve so much run on these nodes at the same time. */
export function capacityOf(
  nodes: readonly RayNode[],
  { cpus = 1, gpus = 0 }: Pick<JobRecord, "cpus" | "gpus">,
): number {
  const fit = (one: { cpus: number; gpus: number }) =>
    Math.min(cpus > 0 ? one.cpus / cpus : Infinity, gpus > 0 ? one.gpus / gpus : Infinity);
  const alive = nodes.filter((one) => one.alive);
  return Math.max(
    1,
    alive.reduce((sum, one) => sum + Math.floor(Math.min(64, fit(one))), 0),
  );
}

/** Whether Ray, not the program, kept a job from its end. */
export function wasLost({ state, message = "" }: JobRecord): boolean {
  return state === "lost" || (state === "FAILED" && lostNode.test(message));
}
