/** Engines and clusters elsewhere: verl, Ray, Tinker, Slurm, SkyPilot. Experimental: may change in any release. */

export {
  attach,
  cluster,
  keptJobs,
  type Cluster,
  type ClusterOptions,
  type SubmitOptions,
} from "../../interop/job/cluster.js";
export type { Job, JobStep } from "../../interop/job/job.js";
export type { JobRecord, JobState } from "../../interop/job/job-record.js";
export type { Sweep, SweepAxes, SweepRunOptions } from "../../interop/job/sweep.js";
export type { RayNode } from "../../interop/ray/ray-api.js";
export { RayError } from "../../interop/ray/ray-connection.js";
export { engine } from "../../interop/engine.js";
export {
  TinkerError,
  TinkerLostAnswer,
  TinkerSessionOver,
} from "../../interop/tinker/client/errors.js";
export type { TinkerConnection } from "../../interop/tinker/client/settings.js";
export {
  TinkerClient,
  type ServerModel,
  type WorkCall,
} from "../../interop/tinker/client/tinker-client.js";
export type { TinkerLora } from "../../interop/tinker/client/tinker-run.js";
export type { TinkerOptions } from "../../interop/tinker/engine.js";
export {
  TinkerPolicy,
  type TinkerParts,
  type TinkerSaved,
} from "../../interop/tinker/tinker-policy.js";
export type { TinkerCapabilities } from "../../interop/tinker/capabilities.js";
export { serveSidecar } from "../../interop/verl/sidecar/serve-sidecar.js";
export {
  exportVerl,
  type VerlExportOptions,
  type VerlJob,
} from "../../interop/verl/export-verl.js";
export { importScript, type ImportedScript } from "../../interop/verl/import-script.js";
export { readVerlRun, type VerlRunRead } from "../../interop/verl/read-verl-run.js";
