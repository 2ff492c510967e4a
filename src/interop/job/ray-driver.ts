import { basename } from "node:path";
import { defined } from "../../../common/options/defined.js";
import { runLine } from "../../run/loggers/json-lines.js";
import type { PlannedRun, RunDriver, RunHooks } from "../../run/sweep/plan.js";
import type { SweepCluster } from "../../run/sweep/sweep-options.js";
import { cluster, type Cluster } from "./cluster.js";
import type { Job } from "./job.js";
import { isOver, type JobState } from "./job-record.js";
import { capacityOf, wasLost } from "./sweep.js";

/** How often a run is sent again whose node or head was lost. */
const retries = 3;

/** A run's job: the one that it was sent as, again where that is over without success, or a new one. */
async function jobOf(
  there: Cluster,
  run: PlannedRun,
  { job }: RunHooks,
  how: SweepCluster,
  name: string,
) {
  if (job === undefined) {
    const { package: from, storage, cpus, gpus } = how;
    const options = defined({ package: from, storage, cpus, gpus });
    return there.submit(run.load, { ...options, name: `${name}-${run.arm}-${run.seed}` });
  }
  const sent = await there.attach(job);
  const state = await sent.status();
  return isOver(state) && state !== "SUCCEEDED" ? sent.retry() : sent;
}

/** Follows a job to its end. */
async function follow(job: Job, { tell, signal }: RunHooks): Promise<JobState> {
  const lines = job.lines({ signal });
  for (;;) {
    const { done, value } = await lines.next();
    if (done) return value;
    const said = runLine(value);
    if (said) tell(said);
  }
}

/** Runs as jobs of a Ray cluster, whose folders are brought here, without checkpoints, when they are done. */
export async function rayDriver(
  how: SweepCluster,
  { folder, atOnce }: { folder: string; atOnce?: number },
): Promise<RunDriver> {
  const there = await cluster(how.address);
  const { cpus = 1, gpus = 0 } = how;
  return {
    atOnce: atOnce ?? capacityOf(await there.nodes(), { cpus, gpus }),
    run: async (run, hooks) => {
      let job = await jobOf(there, run, hooks, how, basename(folder));
      await hooks.keepJob(job.id);
      try {
        let state = await follow(job, hooks);
        for (let again = 0; again < retries && wasLost(job.record); again++) {
          job = await job.retry();
          await hooks.keepJob(job.id);
          state = await follow(job, hooks);
        }
        if (state !== "SUCCEEDED") {
          throw new Error(
            `Cannot finish ${job.id}: it ended as ${state}${job.record.message ? ` (${job.record.message})` : ""}; arpo-lab jobs logs ${job.id} says more`,
          );
        }
      } catch (error) {
        if (hooks.signal.aborted) await job.stop();
        throw error;
      }
      await job.fetch(run.folder);
    },
  };
}
