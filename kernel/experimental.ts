/** Kernels and the lab from a program (`arpo-lab/experimental/kernel`). Experimental: may change in any release. */

// A kernel of any language, driven from here
export { type ExecuteOptions, type IopubMessage, KernelClient } from "./client/kernel-client.js";
export { KernelDiedError } from "./client/kernel-process.js";
export { findKernel, kernelFolders, type KernelSpec, ownKernel } from "./client/kernel-spec.js";
export { executeNotebook } from "./notebook/execute.js";
export { parseParameter } from "./notebook/parameters.js";

// The lab's server
export { LabServer, type LabOptions } from "./server/lab-server.js";
