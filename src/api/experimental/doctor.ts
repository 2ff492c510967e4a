/** What a machine and a configuration will do. Experimental: may change in any release. */

export type { Check, Status } from "../../doctor/check.js";
export { checkCluster, type ClusterWishes } from "../../interop/job/check-cluster.js";
export { checkConfig, type CheckConfigOptions } from "../../doctor/check-config.js";
export { checkMachine, type MachineOptions } from "../../doctor/check-machine.js";
export type { EndpointToCheck } from "../../doctor/machine/endpoints.js";
export { showChecks } from "../../doctor/show-checks.js";
export {
  RunEstimate,
  estimate,
  type EstimateOptions,
  type Expected,
} from "../../doctor/estimate/estimate.js";
