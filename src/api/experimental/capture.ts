/** Agent programs as rollouts: what they ask a model is captured. Experimental: may change in any release. */

export {
  harnessRollout,
  type HarnessOptions,
  type HarnessRun,
  type RunReward,
} from "../../interop/capture/harness-rollout.js";
export type { BranchPoint } from "../../interop/capture/call-replay.js";
export {
  capture,
  CaptureServer,
  type CaptureOptions,
} from "../../interop/capture/capture-server.js";
export {
  CaptureSession,
  type Captured,
  type SessionStart,
} from "../../interop/capture/capture-session.js";
export type {
  CapturedCall,
  CapturedFunction,
  CaptureTask,
  LinkedCall,
  Rewrite,
} from "../../interop/capture/captured-call.js";
