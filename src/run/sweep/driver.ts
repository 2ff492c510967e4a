import type { RunLine } from "../loggers/json-lines.js";
import type { PlannedRun } from "./plan.js";

/** What a run under way is told, and tells. */
export interface RunHooks {
  tell: (line: RunLine) => void;
  /** The job that an earlier attempt was sent as. */
  job: string | undefined;
  /** Keeps the id of the job that the run is sent as. */
  keepJob: (id: string) => Promise<void>;
  /** Once aborted, the run is to end behind its step. */
  signal: AbortSignal;
}

/** Where a sweep's runs are done: in processes here, or on a cluster. */
export interface RunDriver {
  /** Runs at the same time. */
  atOnce: number;
  /** Does a run to its end, from its last checkpoint where there is one; rejects with why it failed. */
  run: (run: PlannedRun, hooks: RunHooks) => Promise<void>;
}
