export {
  attach,
  cluster,
  keptJobs,
  type Cluster,
  type ClusterOptions,
  type SubmitOptions,
} from "./job/cluster.js";
export type { Job, JobStep } from "./job/job.js";
export type { JobRecord, JobState } from "./job/job-record.js";
export type { Sweep, SweepOptions, SweepRunOptions } from "./job/sweep.js";
export type { RayNode } from "./ray/ray-api.js";
export { RayError } from "./ray/ray-error.js";
export { engine } from "./engine.js";
export * from "./tinker/index.js";
export { serveBeside } from "./verl/beside/serve-beside.js";
export { exportVerl, type VerlExportOptions, type VerlJob } from "./verl/export-verl.js";
export { importScript, type ImportedScript } from "./verl/import-script.js";
export { readVerlRun, type VerlRunRead } from "./verl/read-verl-run.js";
