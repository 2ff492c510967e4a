import { defined } from "../../../common/options/defined.js";
import { RayError } from "../ray/ray-connection.js";
import type { RayApi } from "../ray/ray-api.js";
import type { JobLedger } from "./job-ledger.js";
import { entrypoint } from "./job-package.js";
import type { JobRecord } from "./job-record.js";

/** So long a job may take to end its step and save it when it is stopped. */
const secondsToStop = "300";

/**
 * Writes a job down, then sends it with its package. What becomes of it is known from then on, whatever
 * happens to this process or to the head.
 */
export async function sendJob(record: JobRecord, api: RayApi, ledger: JobLedger): Promise<void> {
  await ledger.save(record);
  const uri = await api.upload(await ledger.package(record.package));
  const { id, cpus, gpus, pip, sweep, run, attempt, settings } = record;
  try {
    await api.submit({
      submission_id: id,
      entrypoint: entrypoint(record),
      runtime_env: {
        working_dir: uri,
        ...defined({ pip }),
        // Read by everyone who reaches the cluster: nothing but how long a stop may take.
        env_vars: { RAY_JOB_STOP_WAIT_TIME_S: secondsToStop },
      },
      metadata: {
        job_name: run,
        "arpo-lab.run": run,
        "arpo-lab.attempt": String(attempt),
        ...defined({ sweep }),
        ...settings,
      },
      entrypoint_num_cpus: cpus,
      entrypoint_num_gpus: gpus,
    });
  } catch (error) {
    // The answer may have been lost, not the job; the same id twice is an error 500 there.
    const there = error instanceof RayError && (await api.job(id).catch(() => undefined));
    if (!there) throw error;
  }
  await ledger.save({ ...record, state: "PENDING" });
}
