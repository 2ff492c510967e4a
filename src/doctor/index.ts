export type { Check, Status } from "./check.js";
export { checkCluster, type ClusterWishes } from "./cluster/check-cluster.js";
export { checkConfig, type CheckConfigOptions } from "./check-config.js";
export { checkMachine, type MachineOptions } from "./check-machine.js";
export type { EndpointToCheck } from "./machine/endpoints.js";
export { showChecks } from "./show-checks.js";
export { RunEstimate, estimate, type EstimateOptions, type Expected } from "./estimate/estimate.js";
