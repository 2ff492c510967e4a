/** Engines and clusters elsewhere: verl, Ray, Tinker, Slurm, SkyPilot. Experimental: may change in any release. */

export {
  attach,
  cluster,
  keptJobs,
  type Cluster,
  type ClusterOptions,
  type SubmitOptions,
} from "../../scale/job/cluster.js";
export type { Job, JobStep } from "../../scale/job/job.js";
export type { JobRecord, JobState } from "../../scale/job/job-record.js";
export type { Sweep, SweepAxes, SweepRunOptions } from "../../scale/job/sweep.js";
export type { RayNode } from "../../scale/ray/ray-api.js";
export { RayError } from "../../scale/ray/ray-connection.js";
export { engine } from "../../scale/engine.js";
export {
  TinkerError,
  TinkerLostAnswer,
  TinkerSessionOver,
} from "../../scale/tinker/client/errors.js";
export type { TinkerConnection } from "../../scale/tinker/client/settings.js";
export {
  TinkerClient,
  type ServerModel,
  type WorkCall,
} from "../../scale/tinker/client/tinker-client.js";
export type { TinkerLora } from "../../scale/tinker/client/tinker-run.js";
export type { TinkerOptions } from "../../scale/tinker/engine.js";
export {
  TinkerPolicy,
  type TinkerParts,
  type TinkerSaved,
} from "../../scale/tinker/tinker-policy.js";
export type { TinkerCapabilities } from "../../scale/tinker/capabilities.js";
export { serveSidecar } from "../../scale/verl/sidecar/serve-sidecar.js";
export { exportVerl, type VerlExportOptions, type VerlJob } from "../../scale/verl/export-verl.js";
export { importScript, type ImportedScript } from "../../scale/verl/import-script.js";
export { readVerlRun, type VerlRunRead } from "../../scale/verl/read-verl-run.js";
